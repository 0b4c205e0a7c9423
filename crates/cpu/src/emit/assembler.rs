//! x86-64 assembler: width-generic VEX and EVEX vector instructions, labels and branch fixups, on top of the iced
//! encoder.

use super::Isa;
use iced_x86::{Code, Encoder, Instruction, MemoryOperand, Register};

/// Width of a vector register.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum Width {
    /// 128 bits.
    Xmm,
    /// 256 bits.
    Ymm,
    /// 512 bits.
    Zmm,
}

impl Width {
    /// The narrowest width of at least this many bytes.
    pub(super) fn of_bytes(bytes: usize) -> Width {
        match bytes {
            0..=16 => Width::Xmm,
            17..=32 => Width::Ymm,
            _ => Width::Zmm,
        }
    }

    /// The register of this width with this index.
    pub(super) fn register(self, index: u8) -> Register {
        let first = match self {
            Width::Xmm => Register::XMM0,
            Width::Ymm => Register::YMM0,
            Width::Zmm => Register::ZMM0,
        };
        first + index as u32
    }
}

/// A width-generic instruction, given by the codes of its 128-bit forms. The 256- and 512-bit forms follow in
/// [`Code`]'s order.
#[derive(Clone, Copy, Debug)]
pub(super) struct Op {
    /// VEX form for AVX2, or `INVALID`.
    pub(super) vex: Code,
    /// EVEX form for AVX-512, or `INVALID`.
    pub(super) evex: Code,
}

/// A memory operand: base + index · scale + displacement.
#[derive(Clone, Copy, Debug)]
pub(super) struct Memory {
    /// Base register.
    pub(super) base: Register,
    /// Index register and its scale: 1, 2, 4 or 8.
    pub(super) index: Option<(Register, u32)>,
    /// Displacement in bytes.
    pub(super) displacement: i32,
}

impl Memory {
    /// A base register plus a displacement.
    pub(super) fn at(base: Register, displacement: i32) -> Memory {
        Memory { base, index: None, displacement }
    }

    fn operand(self) -> MemoryOperand {
        let (index, scale) = self.index.unwrap_or((Register::None, 1));
        let size = (self.displacement != 0) as u32;
        MemoryOperand::new(
            self.base,
            index,
            scale,
            self.displacement as i64,
            size,
            false,
            Register::None,
        )
    }
}

/// A register or memory source operand.
#[derive(Clone, Copy, Debug)]
pub(super) enum Operand {
    /// Index of a vector register.
    Vector(u8),
    /// Memory operand.
    Memory(Memory),
}

/// AVX-512 opmask applied to the destination.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Masking {
    /// Unmasked.
    None,
    /// Merge-masking: inactive lanes keep their previous value.
    Merge(u8),
    /// Zero-masking: inactive lanes become zero, and their memory is not accessed.
    Zero(u8),
}

/// A branch target.
#[derive(Clone, Copy, Debug)]
pub(super) struct Label(usize);

/// Branch conditions, with their condition codes as values.
#[derive(Clone, Copy, Debug)]
#[repr(u8)]
pub(super) enum Condition {
    /// Unsigned less than.
    Below = 2,
    /// Unsigned greater than or equal.
    AboveOrEqual = 3,
    /// Zero.
    Equal = 4,
    /// Not zero.
    NotEqual = 5,
}

/// Code buffer with its labels and pending fixups.
pub(super) struct Assembler {
    pub(super) isa: Isa,
    encoder: Encoder,
    length: usize,
    /// Offset of each label, once bound.
    labels: Vec<Option<usize>>,
    /// Offsets of 32-bit displacements to patch, and their target labels.
    fixups: Vec<(usize, Label)>,
    /// First encoding error.
    error: Option<String>,
}

impl Assembler {
    pub(super) fn new(isa: Isa) -> Assembler {
        Assembler {
            isa,
            encoder: Encoder::new(64),
            length: 0,
            labels: Vec::new(),
            fixups: Vec::new(),
            error: None,
        }
    }

    /// Patches every branch displacement and returns the code.
    pub(super) fn finish(mut self) -> Result<Vec<u8>, String> {
        if let Some(error) = self.error {
            return Err(error);
        }
        let mut bytes = self.encoder.take_buffer();
        for (at, Label(label)) in self.fixups {
            let target = self.labels[label].ok_or("a branch to an unbound label")?;
            let distance = target as i64 - (at as i64 + 4);
            bytes[at..at + 4].copy_from_slice(&(distance as i32).to_le_bytes());
        }
        Ok(bytes)
    }

    pub(super) fn label(&mut self) -> Label {
        self.labels.push(None);
        Label(self.labels.len() - 1)
    }

    pub(super) fn bind(&mut self, label: Label) {
        self.labels[label.0] = Some(self.length);
    }

    /// Creates a label bound to the current offset.
    pub(super) fn label_here(&mut self) -> Label {
        let label = self.label();
        self.bind(label);
        label
    }

    pub(super) fn branch(&mut self, condition: Condition, label: Label) {
        self.byte(0x0f);
        self.byte(0x80 | condition as u8);
        self.displacement32(label);
    }

    pub(super) fn jump(&mut self, label: Label) {
        self.byte(0xe9);
        self.displacement32(label);
    }

    fn displacement32(&mut self, label: Label) {
        self.fixups.push((self.length, label));
        for _ in 0..4 {
            self.byte(0);
        }
    }

    fn byte(&mut self, byte: u8) {
        self.encoder.write_u8(byte);
        self.length += 1;
    }

    fn fail(&mut self, error: impl ToString) {
        self.error.get_or_insert_with(|| error.to_string());
    }

    fn encode(&mut self, instruction: Result<Instruction, iced_x86::IcedError>) {
        let encoded = instruction.and_then(|instruction| self.encoder.encode(&instruction, 0));
        match encoded {
            Ok(length) => self.length += length,
            Err(error) => self.fail(error),
        }
    }

    fn encode_masked(
        &mut self,
        instruction: Result<Instruction, iced_x86::IcedError>,
        masking: Masking,
    ) {
        let instruction = instruction.map(|mut instruction| {
            match masking {
                Masking::None => {}
                Masking::Merge(mask) => instruction.set_op_mask(Register::K0 + mask as u32),
                Masking::Zero(mask) => {
                    instruction.set_op_mask(Register::K0 + mask as u32);
                    instruction.set_zeroing_masking(true);
                }
            }
            instruction
        });
        self.encode(instruction);
    }

    /// The encoding of an op at a width on the target instruction set.
    fn form(&mut self, op: Op, width: Width) -> Option<Code> {
        let code = if self.isa == Isa::Avx512 { op.evex } else { op.vex };
        if code == Code::INVALID || (self.isa == Isa::Avx2 && width == Width::Zmm) {
            self.fail(format!("{:?} has no encoding of {op:?}", self.isa));
            return None;
        }
        Code::try_from(code as usize + width as usize).ok()
    }

    /// `dest = op(a, b)`, all of one width.
    pub(super) fn op3(&mut self, op: Op, width: Width, dest: u8, a: u8, b: Operand) {
        self.op3_masked(op, width, dest, a, b, Masking::None);
    }

    pub(super) fn op3_masked(
        &mut self,
        op: Op,
        width: Width,
        dest: u8,
        a: u8,
        b: Operand,
        masking: Masking,
    ) {
        let Some(code) = self.form(op, width) else { return };
        let (dest, a) = (width.register(dest), width.register(a));
        let instruction = match b {
            Operand::Vector(b) => Instruction::with3(code, dest, a, width.register(b)),
            Operand::Memory(b) => Instruction::with3(code, dest, a, b.operand()),
        };
        self.encode_masked(instruction, masking);
    }

    /// `dest = op(a, b, immediate)`, all of one width.
    pub(super) fn op3_immediate(
        &mut self,
        op: Op,
        width: Width,
        dest: u8,
        a: u8,
        b: Operand,
        immediate: u32,
    ) {
        let Some(code) = self.form(op, width) else { return };
        let (dest, a) = (width.register(dest), width.register(a));
        let instruction = match b {
            Operand::Vector(b) => Instruction::with4(code, dest, a, width.register(b), immediate),
            Operand::Memory(b) => Instruction::with4(code, dest, a, b.operand(), immediate),
        };
        self.encode(instruction);
    }

    /// `dest = op(a, b, c)` with four vector operands: AVX2's variable blends.
    pub(super) fn op4(&mut self, op: Op, width: Width, dest: u8, a: u8, b: Operand, c: u8) {
        let Some(code) = self.form(op, width) else { return };
        let (dest, a, c) = (width.register(dest), width.register(a), width.register(c));
        let instruction = match b {
            Operand::Vector(b) => Instruction::with4(code, dest, a, width.register(b), c),
            Operand::Memory(b) => Instruction::with4(code, dest, a, b.operand(), c),
        };
        self.encode(instruction);
    }

    /// `dest = op(a)`, of one width.
    pub(super) fn op2(&mut self, op: Op, width: Width, dest: u8, a: Operand) {
        self.convert(op, width, (width, dest), (width, a), Masking::None);
    }

    pub(super) fn op2_masked(
        &mut self,
        op: Op,
        width: Width,
        dest: u8,
        a: Operand,
        masking: Masking,
    ) {
        self.convert(op, width, (width, dest), (width, a), masking);
    }

    /// `dest = op(a, immediate)`, of one width.
    pub(super) fn op2_immediate(&mut self, op: Op, width: Width, dest: u8, a: u8, immediate: u32) {
        let Some(code) = self.form(op, width) else { return };
        let (dest, a) = (width.register(dest), width.register(a));
        self.encode(Instruction::with3(code, dest, a, immediate));
    }

    /// `dest = op(a)` with operands of two widths; `width` selects the encoding.
    pub(super) fn convert(
        &mut self,
        op: Op,
        width: Width,
        dest: (Width, u8),
        source: (Width, Operand),
        masking: Masking,
    ) {
        let Some(code) = self.form(op, width) else { return };
        let dest = dest.0.register(dest.1);
        let instruction = match source.1 {
            Operand::Vector(index) => Instruction::with2(code, dest, source.0.register(index)),
            Operand::Memory(memory) => Instruction::with2(code, dest, memory.operand()),
        };
        self.encode_masked(instruction, masking);
    }

    /// `dest = op(source, immediate)` with operands of two widths; `width` selects the encoding.
    pub(super) fn convert_immediate(
        &mut self,
        op: Op,
        width: Width,
        dest: (Width, u8),
        source: (Width, u8),
        immediate: u32,
    ) {
        let Some(code) = self.form(op, width) else { return };
        let (dest, source) = (dest.0.register(dest.1), source.0.register(source.1));
        self.encode(Instruction::with3(code, dest, source, immediate));
    }

    /// `dest = a` with 128-bit part `immediate` replaced by `part`.
    pub(super) fn insert_128(&mut self, width: Width, dest: u8, a: u8, part: u8, immediate: u32) {
        let code = match (self.isa, width) {
            (Isa::Avx512, Width::Zmm) => Code::EVEX_Vinserti32x4_zmm_k1z_zmm_xmmm128_imm8,
            (Isa::Avx512, _) => Code::EVEX_Vinserti32x4_ymm_k1z_ymm_xmmm128_imm8,
            (Isa::Avx2, _) => Code::VEX_Vinserti128_ymm_ymm_xmmm128_imm8,
        };
        let (dest, a) = (width.register(dest), width.register(a));
        self.encode(Instruction::with4(code, dest, a, Width::Xmm.register(part), immediate));
    }

    /// Extracts 128-bit part `immediate` of a wider register.
    pub(super) fn extract_128(&mut self, width: Width, dest: u8, a: u8, immediate: u32) {
        let code = match (self.isa, width) {
            (Isa::Avx512, Width::Zmm) => Code::EVEX_Vextracti32x4_xmmm128_k1z_zmm_imm8,
            (Isa::Avx512, _) => Code::EVEX_Vextracti32x4_xmmm128_k1z_ymm_imm8,
            (Isa::Avx2, _) => Code::VEX_Vextracti128_xmmm128_ymm_imm8,
        };
        let (dest, a) = (Width::Xmm.register(dest), width.register(a));
        self.encode(Instruction::with3(code, dest, a, immediate));
    }

    /// Extracts the upper 256 bits of a 512-bit register.
    pub(super) fn extract_upper_256(&mut self, dest: u8, a: u8) {
        let code = Code::EVEX_Vextracti64x4_ymmm256_k1z_zmm_imm8;
        self.encode(Instruction::with3(
            code,
            Width::Ymm.register(dest),
            Width::Zmm.register(a),
            1u32,
        ));
    }

    /// Stores a vector register.
    pub(super) fn store(
        &mut self,
        op: Op,
        width: Width,
        memory: Memory,
        source: u8,
        masking: Masking,
    ) {
        let Some(code) = self.form(op, width) else { return };
        self.encode_masked(
            Instruction::with2(code, memory.operand(), width.register(source)),
            masking,
        );
    }

    /// Stores the lanes selected by a vector mask (VMASKMOV, AVX2).
    pub(super) fn store_lanes(
        &mut self,
        op: Op,
        width: Width,
        memory: Memory,
        mask: u8,
        source: u8,
    ) {
        let Some(code) = self.form(op, width) else { return };
        let (mask, source) = (width.register(mask), width.register(source));
        self.encode(Instruction::with3(code, memory.operand(), mask, source));
    }

    /// Compares into an opmask.
    pub(super) fn compare(
        &mut self,
        op: Op,
        width: Width,
        mask: u8,
        a: u8,
        b: Operand,
        predicate: u32,
    ) {
        let Some(code) = self.form(op, width) else { return };
        let (mask, a) = (Register::K0 + mask as u32, width.register(a));
        let instruction = match b {
            Operand::Vector(b) => Instruction::with4(code, mask, a, width.register(b), predicate),
            Operand::Memory(b) => Instruction::with4(code, mask, a, b.operand(), predicate),
        };
        self.encode(instruction);
    }

    /// Sets the opmask bits of the nonzero lanes (VPTESTM).
    pub(super) fn test_into_mask(&mut self, op: Op, width: Width, mask: u8, a: u8) {
        let Some(code) = self.form(op, width) else { return };
        let a = width.register(a);
        self.encode(Instruction::with3(code, Register::K0 + mask as u32, a, a));
    }

    /// Expands an opmask to lanes of all ones or zeros (VPMOVM2*).
    pub(super) fn expand_mask(&mut self, op: Op, width: Width, dest: u8, mask: u8) {
        let Some(code) = self.form(op, width) else { return };
        self.encode(Instruction::with2(code, width.register(dest), Register::K0 + mask as u32));
    }

    /// Collects the sign bits of the 32-bit lanes into an opmask (VPMOVD2M).
    pub(super) fn mask_from_sign_bits(&mut self, width: Width, mask: u8, a: u8) {
        let code =
            [Code::EVEX_Vpmovd2m_kr_xmm, Code::EVEX_Vpmovd2m_kr_ymm, Code::EVEX_Vpmovd2m_kr_zmm];
        let code = code[width as usize];
        self.encode(Instruction::with2(code, Register::K0 + mask as u32, width.register(a)));
    }

    /// Emits an instruction with three register or opmask operands.
    pub(super) fn emit_rrr(&mut self, code: Code, a: Register, b: Register, c: Register) {
        self.encode(Instruction::with3(code, a, b, c));
    }

    /// Emits an instruction with two register or opmask operands.
    pub(super) fn emit_rr(&mut self, code: Code, a: Register, b: Register) {
        self.encode(Instruction::with2(code, a, b));
    }

    /// Emits an instruction with a register destination and a memory source.
    pub(super) fn emit_rm(&mut self, code: Code, dest: Register, memory: Memory) {
        self.encode(Instruction::with2(code, dest, memory.operand()));
    }

    /// Emits an instruction with a memory destination and a register source.
    pub(super) fn emit_mr(&mut self, code: Code, memory: Memory, source: Register) {
        self.encode(Instruction::with2(code, memory.operand(), source));
    }

    /// Emits an instruction with a register and an immediate operand.
    pub(super) fn emit_ri(&mut self, code: Code, dest: Register, immediate: u32) {
        self.encode(Instruction::with2(code, dest, immediate));
    }

    /// Emits an instruction with a memory and an immediate operand.
    pub(super) fn emit_mi(&mut self, code: Code, memory: Memory, immediate: i32) {
        self.encode(Instruction::with2(code, memory.operand(), immediate));
    }

    /// Emits an instruction with a memory operand.
    pub(super) fn emit_m(&mut self, code: Code, memory: Memory) {
        self.encode(Instruction::with1(code, memory.operand()));
    }

    /// Emits an instruction with a register operand.
    pub(super) fn emit_r(&mut self, code: Code, register: Register) {
        self.encode(Instruction::with1(code, register));
    }

    /// Emits an instruction without operands.
    pub(super) fn emit_bare(&mut self, code: Code) {
        self.encode(Ok(Instruction::with(code)));
    }

    /// Inserts an element of `size` bytes from memory into a lane of a 128-bit register (VPINSR).
    pub(super) fn insert_element(&mut self, size: usize, dest: u8, memory: Memory, lane: u32) {
        let evex = self.isa == Isa::Avx512;
        let code = match (size, evex) {
            (1, false) => Code::VEX_Vpinsrb_xmm_xmm_r32m8_imm8,
            (1, true) => Code::EVEX_Vpinsrb_xmm_xmm_r32m8_imm8,
            (2, false) => Code::VEX_Vpinsrw_xmm_xmm_r32m16_imm8,
            (2, true) => Code::EVEX_Vpinsrw_xmm_xmm_r32m16_imm8,
            (4, false) => Code::VEX_Vpinsrd_xmm_xmm_rm32_imm8,
            (4, true) => Code::EVEX_Vpinsrd_xmm_xmm_rm32_imm8,
            (_, false) => Code::VEX_Vpinsrq_xmm_xmm_rm64_imm8,
            (_, true) => Code::EVEX_Vpinsrq_xmm_xmm_rm64_imm8,
        };
        let dest = Width::Xmm.register(dest);
        self.encode(Instruction::with4(code, dest, dest, memory.operand(), lane));
    }

    /// Stores an element of `size` bytes from a lane of a 128-bit register (VPEXTR).
    pub(super) fn extract_element(&mut self, size: usize, memory: Memory, source: u8, lane: u32) {
        let evex = self.isa == Isa::Avx512;
        let code = match (size, evex) {
            (1, false) => Code::VEX_Vpextrb_r32m8_xmm_imm8,
            (1, true) => Code::EVEX_Vpextrb_r32m8_xmm_imm8,
            (2, false) => Code::VEX_Vpextrw_r32m16_xmm_imm8,
            (2, true) => Code::EVEX_Vpextrw_r32m16_xmm_imm8,
            (4, false) => Code::VEX_Vpextrd_rm32_xmm_imm8,
            (4, true) => Code::EVEX_Vpextrd_rm32_xmm_imm8,
            (_, false) => Code::VEX_Vpextrq_rm64_xmm_imm8,
            (_, true) => Code::EVEX_Vpextrq_rm64_xmm_imm8,
        };
        self.encode(Instruction::with3(code, memory.operand(), Width::Xmm.register(source), lane));
    }
}
