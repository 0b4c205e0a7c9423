//! Loads, stores and positions.
//!
//! Strided elements are inserted into and extracted from vectors one at a time. That serves every dtype and
//! stride, and is no slower than the hardware gather and scatter instructions.

use super::Unsupported;
use super::argument_layout::{INDEXED_POINTER, ROW_POINTER, VECTOR_STEP};
use super::assembler::{Condition, Masking, Memory, Operand, Width};
use super::emitter::{ARGUMENTS, ActiveLanes, Emitter, INDEX, SCRATCH_MASKS, TAIL};
use super::opcodes::*;
use iced_x86::{Code, Register};
use inflight_ir::DType;
use inflight_ir::kernel::{AccessId, Stride, Value};

/// Address register.
pub(super) const ADDRESS: Register = Register::RAX;
/// Stride along the vector axis in bytes.
pub(super) const STEP: Register = Register::RCX;
/// Three times the stride.
pub(super) const TRIPLE: Register = Register::RDX;
/// Bit mask of the lanes to load or store.
pub(super) const LANE_BITS: Register = Register::EBX;

/// How to address the lanes of an access that is not contiguous.
#[derive(Clone, Copy)]
pub(super) enum LaneAddressing {
    /// By the stride along the vector axis.
    Strided,
    /// By an index, whose lanes are stored in the argument block.
    Indexed { access: AccessId, size: usize, wide: bool },
}

impl Emitter<'_> {
    /// Register with the current pointer of an access; loads it if it lives in the argument block.
    fn pointer(&mut self, access: AccessId) -> Register {
        self.access_pointers[access as usize].unwrap_or_else(|| {
            let word =
                if self.index_folded[access as usize] { INDEXED_POINTER } else { ROW_POINTER };
            let at = self.layout.access(access as usize) + word;
            self.assembler.emit_rm(Code::Mov_r64_rm64, ADDRESS, Memory::at(ARGUMENTS, at));
            ADDRESS
        })
    }

    /// Computes the pointer of the body's first element into the address register, for any stride.
    fn strided_pointer(&mut self, access: AccessId) {
        let step = Memory::at(ARGUMENTS, self.layout.access(access as usize) + VECTOR_STEP);
        let index = Memory { base: INDEX, index: None, displacement: self.offset as i32 };
        self.assembler.emit_rm(Code::Lea_r64_m, STEP, index);
        self.assembler.emit_rm(Code::Imul_r64_rm64, STEP, step);
        let pointer = self.pointer(access);
        let sum = Memory { base: pointer, index: Some((STEP, 1)), displacement: 0 };
        self.assembler.emit_rm(Code::Lea_r64_m, ADDRESS, sum);
    }

    /// Address of the body's first element.
    pub(super) fn address(&mut self, access: AccessId, size: usize) -> Memory {
        match self.kernel.accesses[access as usize].vector {
            Stride::Zero => Memory::at(self.pointer(access), 0),
            Stride::One => Memory {
                base: self.pointer(access),
                index: Some((INDEX, size as u32)),
                displacement: (self.offset * size) as i32,
            },
            Stride::Any => {
                self.strided_pointer(access);
                Memory::at(ADDRESS, 0)
            }
        }
    }

    /// Prepares lane addressing by stride: the first element's address and the stride.
    pub(super) fn begin_strided_lanes(&mut self, access: AccessId, size: usize) {
        let first = self.address(access, size);
        self.assembler.emit_rm(Code::Lea_r64_m, ADDRESS, first);
        if self.kernel.accesses[access as usize].vector == Stride::Any {
            let step = Memory::at(ARGUMENTS, self.layout.access(access as usize) + VECTOR_STEP);
            self.assembler.emit_rm(Code::Mov_r64_rm64, STEP, step);
        } else {
            let stride = self.kernel.accesses[access as usize].vector;
            let step = if stride == Stride::One { size as u32 } else { 0 };
            self.assembler.emit_ri(Code::Mov_r32_imm32, Register::ECX, step);
        }
        let triple = Memory { base: STEP, index: Some((STEP, 2)), displacement: 0 };
        self.assembler.emit_rm(Code::Lea_r64_m, TRIPLE, triple);
    }

    /// Address of a lane; lanes must be requested in order.
    pub(super) fn strided_lane_address(&mut self, lane: usize) -> Memory {
        if lane > 0 && lane.is_multiple_of(4) {
            let next = Memory { base: ADDRESS, index: Some((STEP, 4)), displacement: 0 };
            self.assembler.emit_rm(Code::Lea_r64_m, ADDRESS, next);
        }
        let index = match lane % 4 {
            0 => None,
            1 => Some((STEP, 1)),
            2 => Some((STEP, 2)),
            _ => Some((TRIPLE, 1)),
        };
        Memory { base: ADDRESS, index, displacement: 0 }
    }

    /// Moves the lanes of a `bool` into a bit mask in a general register.
    pub(super) fn mask_to_bits(&mut self, mask: Value) -> Result<(), Unsupported> {
        if self.is_avx512() {
            let mask = self.mask(mask)?;
            let mask = Register::K0 + mask as u32;
            self.assembler.emit_rr(Code::VEX_Kmovw_r32_kr, LANE_BITS, mask);
        } else {
            let mask = self.vector(mask)?;
            let code = match self.width32() {
                Width::Xmm => Code::VEX_Vmovmskps_r32_xmm,
                _ => Code::VEX_Vmovmskps_r32_ymm,
            };
            let mask = self.width32().register(mask);
            self.assembler.emit_rr(code, LANE_BITS, mask);
        }
        Ok(())
    }

    /// Opmask of the lanes where a `bool` is true and the tail mask is set.
    pub(super) fn and_with_tail_mask(&mut self, mask: Value) -> Result<u8, Unsupported> {
        let mask = self.mask(mask)?;
        let [lanes, _] = SCRATCH_MASKS;
        let (to, from) = (Register::K0 + lanes as u32, Register::K0 + mask as u32);
        self.assembler.emit_rrr(Code::VEX_Kandw_kr_kr_kr, to, from, Register::K0 + TAIL as u32);
        Ok(lanes)
    }

    pub(super) fn load(
        &mut self,
        value: Value,
        access: AccessId,
        mask: Option<Value>,
    ) -> Result<(), Unsupported> {
        let dtype = self.dtype(value);
        let size = dtype.size();
        let stride = self.kernel.accesses[access as usize].vector;
        if let Some(mask) = mask {
            return self.masked_load(value, access, mask);
        }
        match (stride, self.active_lanes) {
            (Stride::Zero, _) => {
                let packed = self.temporary()?;
                let address = self.address(access, size);
                self.load_element(size, packed, address);
                self.unpack_broadcast(value, dtype, packed)
            }
            (Stride::One, ActiveLanes::Full) => {
                let address = self.address(access, size);
                self.unpack(value, dtype, Operand::Memory(address), Masking::None)
            }
            (Stride::One, ActiveLanes::Masked) => {
                let address = self.address(access, size);
                self.unpack(value, dtype, Operand::Memory(address), Masking::Zero(TAIL))
            }
            (Stride::Any, ActiveLanes::Full) => {
                let [packed, part] = [self.temporary()?, self.temporary()?];
                self.begin_strided_lanes(access, size);
                self.gather(size, packed, part, false, LaneAddressing::Strided);
                self.unpack(value, dtype, Operand::Vector(packed), Masking::None)
            }
            (_, ActiveLanes::Scalar | ActiveLanes::Uniform) => {
                let packed = self.temporary()?;
                let address = self.address(access, size);
                self.load_element(size, packed, address);
                self.unpack(value, dtype, Operand::Vector(packed), Masking::None)
            }
            (Stride::Any, ActiveLanes::Masked) => {
                Err(Unsupported("a strided access under the tail mask".to_string()))
            }
        }
    }

    fn masked_load(
        &mut self,
        value: Value,
        access: AccessId,
        mask: Value,
    ) -> Result<(), Unsupported> {
        let dtype = self.dtype(value);
        let size = dtype.size();
        let stride = self.kernel.accesses[access as usize].vector;
        let is_vector = matches!(self.active_lanes, ActiveLanes::Full | ActiveLanes::Masked);
        if stride == Stride::One && is_vector && self.is_avx512() {
            let lanes = self.and_with_tail_mask(mask)?;
            let address = self.address(access, size);
            return self.unpack(value, dtype, Operand::Memory(address), Masking::Zero(lanes));
        }
        if stride == Stride::One && is_vector && size >= 4 {
            let lanes = self.widen_lane_mask(mask, dtype)?;
            let address = self.address(access, size);
            let op = if size == 8 { MASKLOADPD } else { MASKLOADPS };
            let dest = self.result(value)?;
            self.assembler.op3(op, self.width(dtype), dest, lanes, Operand::Memory(address));
            return Ok(());
        }
        // Allocate registers before the branches: an eviction must be stored on every path.
        self.mask_to_bits(mask)?;
        let [packed, part] = [self.temporary()?, self.temporary()?];
        let width = self.width_of(self.layout.lanes * size);
        match (stride, self.active_lanes) {
            (Stride::Zero, ActiveLanes::Full | ActiveLanes::Masked) => {
                // The single element is loaded if any lane is active.
                let lanes = (1u32 << self.layout.lanes) - 1;
                self.assembler.op3(XORPS, Width::Xmm, packed, packed, Operand::Vector(packed));
                let skip = self.assembler.label();
                self.assembler.emit_ri(Code::Test_rm32_imm32, LANE_BITS, lanes);
                self.assembler.branch(Condition::Equal, skip);
                let address = self.address(access, size);
                self.load_element(size, packed, address);
                self.assembler.bind(skip);
                self.unpack_broadcast(value, dtype, packed)?;
                self.zero_masked_off_lanes(value, mask)
            }
            (_, ActiveLanes::Scalar | ActiveLanes::Uniform) => {
                self.assembler.op3(XORPS, Width::Xmm, packed, packed, Operand::Vector(packed));
                let skip = self.assembler.label();
                self.assembler.emit_ri(Code::Test_rm32_imm32, LANE_BITS, 1);
                self.assembler.branch(Condition::Equal, skip);
                let address = self.address(access, size);
                self.load_element(size, packed, address);
                self.assembler.bind(skip);
                if stride == Stride::Zero {
                    self.unpack_broadcast(value, dtype, packed)
                } else {
                    self.unpack(value, dtype, Operand::Vector(packed), Masking::None)
                }
            }
            (_, ActiveLanes::Full) => {
                self.begin_strided_lanes(access, size);
                self.assembler.op3(XORPS, width, packed, packed, Operand::Vector(packed));
                self.gather(size, packed, part, true, LaneAddressing::Strided);
                self.unpack(value, dtype, Operand::Vector(packed), Masking::None)
            }
            (_, ActiveLanes::Masked) => {
                Err(Unsupported("a strided access under the tail mask".to_string()))
            }
        }
    }

    /// Zeroes the lanes of a loaded value where a `bool` is false.
    fn zero_masked_off_lanes(&mut self, value: Value, mask: Value) -> Result<(), Unsupported> {
        let dtype = self.dtype(value);
        if self.is_opmask_dtype(dtype) {
            let (value, mask) = (self.mask(value)?, self.mask(mask)?);
            let (value, mask) = (Register::K0 + value as u32, Register::K0 + mask as u32);
            self.assembler.emit_rrr(Code::VEX_Kandw_kr_kr_kr, value, value, mask);
        } else if self.is_avx512() {
            let (value, mask) = (self.vector(value)?, self.mask(mask)?);
            let op = if dtype.size() == 8 { MOVAPD } else { MOVAPS };
            let masking = Masking::Zero(mask);
            self.assembler.op2_masked(
                op,
                self.width(dtype),
                value,
                Operand::Vector(value),
                masking,
            );
        } else {
            let lanes = self.widen_lane_mask(mask, dtype)?;
            let value = self.vector(value)?;
            self.assembler.op3(ANDPS, self.width(dtype), value, value, Operand::Vector(lanes));
        }
        Ok(())
    }

    /// Widens a `bool`'s lane mask to the lane size of a dtype; AVX2 only.
    pub(super) fn widen_lane_mask(&mut self, mask: Value, dtype: DType) -> Result<u8, Unsupported> {
        let lanes = self.vector(mask)?;
        if self.width(dtype) == self.width32() {
            return Ok(lanes);
        }
        let wide = self.temporary()?;
        let (to, from) = (self.width64(), self.width32());
        let source = (from, Operand::Vector(lanes));
        self.assembler.convert(MOVSXDQ, to, (to, wide), source, Masking::None);
        Ok(wide)
    }

    /// Loads one element into lane 0 and zeroes the rest of the 128-bit register.
    pub(super) fn load_element(&mut self, size: usize, dest: u8, memory: Memory) {
        let evex = self.is_avx512();
        let xmm = Width::Xmm.register(dest);
        match size {
            4 | 8 => {
                let code = match (size, evex) {
                    (4, false) => Code::VEX_Vmovd_xmm_rm32,
                    (4, true) => Code::EVEX_Vmovd_xmm_rm32,
                    (_, false) => Code::VEX_Vmovq_xmm_rm64,
                    (_, true) => Code::EVEX_Vmovq_xmm_rm64,
                };
                self.assembler.emit_rm(code, xmm, memory);
            }
            _ => {
                let code = if size == 1 { Code::Movzx_r32_rm8 } else { Code::Movzx_r32_rm16 };
                self.assembler.emit_rm(code, Register::EAX, memory);
                let code = if evex { Code::EVEX_Vmovd_xmm_rm32 } else { Code::VEX_Vmovd_xmm_rm32 };
                self.assembler.emit_rr(code, xmm, Register::EAX);
            }
        }
    }

    /// Gathers the packed elements of all lanes. With `masked`, loads only lanes in the bit mask, into a register
    /// that is zero.
    pub(super) fn gather(
        &mut self,
        size: usize,
        packed: u8,
        part: u8,
        masked: bool,
        addressing: LaneAddressing,
    ) {
        let width = self.width_of(self.layout.lanes * size);
        let per_part = 16 / size;
        for lane in 0..self.layout.lanes {
            let first = lane.is_multiple_of(per_part);
            let into = if lane < per_part { packed } else { part };
            let memory = self.lane_address(addressing, lane);
            if first && lane > 0 && masked {
                self.assembler.op3(XORPS, Width::Xmm, part, part, Operand::Vector(part));
            }
            if masked {
                let skip = self.assembler.label();
                self.assembler.emit_ri(Code::Test_rm32_imm32, LANE_BITS, 1 << lane);
                self.assembler.branch(Condition::Equal, skip);
                self.assembler.insert_element(size, into, memory, (lane % per_part) as u32);
                self.assembler.bind(skip);
            } else if first && size >= 4 {
                self.load_element(size, into, memory);
            } else {
                if first {
                    // Zeroing breaks the dependency of the insertions on the register's previous value.
                    self.assembler.op3(XORPS, Width::Xmm, into, into, Operand::Vector(into));
                }
                self.assembler.insert_element(size, into, memory, (lane % per_part) as u32);
            }
            let last = lane % per_part == per_part - 1 || lane == self.layout.lanes - 1;
            if last && lane >= per_part {
                self.assembler.insert_128(width, packed, packed, part, (lane / per_part) as u32);
            }
        }
    }

    /// Converts packed elements to their lane representation.
    pub(super) fn unpack(
        &mut self,
        value: Value,
        dtype: DType,
        source: Operand,
        masking: Masking,
    ) -> Result<(), Unsupported> {
        if self.is_opmask_dtype(dtype) {
            let lanes = self.temporary()?;
            let width = self.width32();
            self.assembler.convert(MOVZXBD, width, (width, lanes), (Width::Xmm, source), masking);
            let mask = self.result_mask(value)?;
            self.assembler.test_into_mask(TESTMD, width, mask, lanes);
            return Ok(());
        }
        let dest = self.result(value)?;
        self.unpack_into(dest, dtype, source, masking)
    }

    fn unpack_into(
        &mut self,
        dest: u8,
        dtype: DType,
        source: Operand,
        masking: Masking,
    ) -> Result<(), Unsupported> {
        let width = self.width(dtype);
        let packed = self.width_of(self.layout.lanes * dtype.size());
        let op = match dtype {
            DType::F32 | DType::I32 | DType::U32 => MOVUPS,
            DType::F64 | DType::I64 | DType::U64 => MOVUPD,
            DType::F16 => CVTPH2PS,
            DType::BF16 | DType::U16 => MOVZXWD,
            DType::I16 => MOVSXWD,
            DType::U8 | DType::Bool => MOVZXBD,
            DType::I8 => MOVSXBD,
            DType::C64 | DType::C128 => return Err(Unsupported("complex dtypes".to_string())),
        };
        self.assembler.convert(op, width, (width, dest), (packed, source), masking);
        if dtype == DType::BF16 {
            self.assembler.op2_immediate(SLLD, width, dest, dest, 16);
        }
        if dtype == DType::Bool {
            self.bools_to_lane_masks(dest)?;
        }
        Ok(())
    }

    /// Expands lanes of 0 or 1 to lanes of all zeros or ones; AVX2 only.
    fn bools_to_lane_masks(&mut self, register: u8) -> Result<(), Unsupported> {
        let zero = self.temporary()?;
        self.assembler.op3(XORPS, Width::Xmm, zero, zero, Operand::Vector(zero));
        self.assembler.op3(CMPGTD, self.width32(), register, register, Operand::Vector(zero));
        Ok(())
    }

    /// Converts one packed element to its lane representation and broadcasts it.
    pub(super) fn unpack_broadcast(
        &mut self,
        value: Value,
        dtype: DType,
        packed: u8,
    ) -> Result<(), Unsupported> {
        let width = self.width(dtype);
        let broadcast = if dtype.size() == 8 { BROADCASTQ } else { BROADCASTD };
        if self.is_opmask_dtype(dtype) {
            let source = (Width::Xmm, Operand::Vector(packed));
            self.assembler.convert(broadcast, width, (width, packed), source, Masking::None);
            let mask = self.result_mask(value)?;
            self.assembler.test_into_mask(TESTMD, width, mask, packed);
            return Ok(());
        }
        let dest = self.result(value)?;
        self.unpack_into(dest, dtype, Operand::Vector(packed), Masking::None)?;
        let source = (Width::Xmm, Operand::Vector(dest));
        self.assembler.convert(broadcast, width, (width, dest), source, Masking::None);
        Ok(())
    }

    pub(super) fn store(
        &mut self,
        access: AccessId,
        value: Value,
        mask: Option<Value>,
    ) -> Result<(), Unsupported> {
        let dtype = self.dtype(value);
        let size = dtype.size();
        let stride = self.kernel.accesses[access as usize].vector;
        let is_vector = matches!(self.active_lanes, ActiveLanes::Full | ActiveLanes::Masked);
        if stride == Stride::Zero && is_vector {
            return Err(Unsupported("a vector store with a vector stride of zero".to_string()));
        }
        let packed = self.pack(value)?;
        let width = self.width_of(self.layout.lanes * size);
        if stride == Stride::One && is_vector && (self.is_avx512() || size >= 4 || mask.is_none()) {
            let lanes = match mask {
                Some(mask) if self.is_avx512() => Masking::Merge(self.and_with_tail_mask(mask)?),
                Some(mask) => {
                    let lanes = self.widen_lane_mask(mask, dtype)?;
                    let address = self.address(access, size);
                    let op = if size == 8 { MASKSTOREPD } else { MASKSTOREPS };
                    self.assembler.store_lanes(op, width, address, lanes, packed);
                    return Ok(());
                }
                None if self.active_lanes == ActiveLanes::Masked => Masking::Merge(TAIL),
                None => Masking::None,
            };
            let address = self.address(access, size);
            if self.streaming && lanes == Masking::None && self.layout.lanes * size >= 16 {
                self.assembler.store(STORENTPS, width, address, packed, lanes);
            } else {
                self.store_packed(size, address, packed, lanes);
            }
            return Ok(());
        }
        let part = self.temporary()?;
        if let Some(mask) = mask {
            self.mask_to_bits(mask)?;
        }
        if is_vector {
            self.begin_strided_lanes(access, size);
            self.scatter(size, packed, part, mask.is_some(), LaneAddressing::Strided);
            return Ok(());
        }
        let skip = self.assembler.label();
        if mask.is_some() {
            self.assembler.emit_ri(Code::Test_rm32_imm32, LANE_BITS, 1);
            self.assembler.branch(Condition::Equal, skip);
        }
        let address = self.address(access, size);
        self.assembler.extract_element(size, address, packed, 0);
        self.assembler.bind(skip);
        Ok(())
    }

    /// Converts lanes to packed elements. The result is in a register other than the value's own unless both
    /// representations are the same.
    pub(super) fn pack(&mut self, value: Value) -> Result<u8, Unsupported> {
        let dtype = self.dtype(value);
        let width = self.width32();
        if self.is_opmask_dtype(dtype) {
            let mask = self.mask(value)?;
            let packed = self.temporary()?;
            self.assembler.expand_mask(M2B, Width::Xmm, packed, mask);
            self.assembler.op2(ABSB, Width::Xmm, packed, Operand::Vector(packed));
            return Ok(packed);
        }
        let register = self.vector(value)?;
        if dtype.size() >= 4 {
            return Ok(register);
        }
        let packed = self.temporary()?;
        let packed_width = self.width_of(self.layout.lanes * 2);
        let mut source = register;
        match dtype {
            DType::F16 => {
                self.assembler.convert_immediate(
                    CVTPS2PH,
                    width,
                    (packed_width, packed),
                    (width, register),
                    0,
                );
                return Ok(packed);
            }
            DType::BF16 => {
                self.assembler.op2_immediate(SRLD, width, packed, register, 16);
                source = packed;
            }
            DType::Bool => {
                self.assembler.op2_immediate(SRLD, width, packed, register, 31);
                source = packed;
            }
            _ => {}
        }
        if self.is_avx512() {
            let op = if dtype.size() == 2 { MOVDW } else { MOVDB };
            let to = self.width_of(self.layout.lanes * dtype.size());
            let source = (width, Operand::Vector(source));
            self.assembler.convert(op, width, (to, packed), source, Masking::None);
            return Ok(packed);
        }
        if source == register {
            let low = self.constant32(if dtype.size() == 2 { 0xffff } else { 0xff });
            self.assembler.op3(ANDPS, width, packed, register, low);
        }
        if width == Width::Ymm {
            let upper = self.temporary()?;
            self.assembler.extract_128(width, upper, packed, 1);
            self.assembler.op3(PACKUSDW, Width::Xmm, packed, packed, Operand::Vector(upper));
        } else {
            self.assembler.op3(PACKUSDW, Width::Xmm, packed, packed, Operand::Vector(packed));
        }
        if dtype.size() == 1 {
            self.assembler.op3(PACKUSWB, Width::Xmm, packed, packed, Operand::Vector(packed));
        }
        Ok(packed)
    }

    /// Stores contiguous packed elements.
    fn store_packed(&mut self, size: usize, address: Memory, packed: u8, masking: Masking) {
        let bytes = self.layout.lanes * size;
        let width = Width::of_bytes(bytes);
        if masking != Masking::None {
            let op = match size {
                1 => STORE8,
                2 => STORE16,
                4 => STOREUPS,
                _ => STOREUPD,
            };
            self.assembler.store(op, width, address, packed, masking);
        } else if bytes < 16 {
            self.assembler.extract_element(bytes, address, packed, 0);
        } else {
            self.assembler.store(STOREUPS, width, address, packed, masking);
        }
    }

    /// Scatters the packed elements of all lanes; with `masked`, only lanes in the bit mask.
    pub(super) fn scatter(
        &mut self,
        size: usize,
        packed: u8,
        part: u8,
        masked: bool,
        addressing: LaneAddressing,
    ) {
        let width = self.width_of(self.layout.lanes * size);
        let per_part = 16 / size;
        for lane in 0..self.layout.lanes {
            let memory = self.lane_address(addressing, lane);
            if lane >= per_part && lane.is_multiple_of(per_part) {
                self.assembler.extract_128(width, part, packed, (lane / per_part) as u32);
            }
            let from = if lane < per_part { packed } else { part };
            let skip = self.assembler.label();
            if masked {
                self.assembler.emit_ri(Code::Test_rm32_imm32, LANE_BITS, 1 << lane);
                self.assembler.branch(Condition::Equal, skip);
            }
            self.assembler.extract_element(size, memory, from, (lane % per_part) as u32);
            self.assembler.bind(skip);
        }
    }

    /// Value of an access map: the row's value in a general register, broadcast, plus the lane offsets.
    pub(super) fn position_value(
        &mut self,
        value: Value,
        access: AccessId,
    ) -> Result<(), Unsupported> {
        let wide = match self.dtype(value) {
            DType::I32 => false,
            DType::I64 => true,
            other => return Err(Unsupported(format!("a position as {other}"))),
        };
        let width = self.width(self.dtype(value));
        let stride = self.kernel.accesses[access as usize].vector;
        match stride {
            Stride::Zero => {
                let pointer = self.pointer(access);
                self.assembler.emit_rr(Code::Mov_r64_rm64, ADDRESS, pointer);
            }
            Stride::One => {
                let base = self.pointer(access);
                let index = Some((INDEX, 1));
                let sum = Memory { base, index, displacement: self.offset as i32 };
                self.assembler.emit_rm(Code::Lea_r64_m, ADDRESS, sum);
            }
            Stride::Any => self.strided_pointer(access),
        }
        let dest = self.result(value)?;
        let (code, source) = match (wide, self.is_avx512()) {
            (false, false) => (Code::VEX_Vmovd_xmm_rm32, Register::EAX),
            (false, true) => (Code::EVEX_Vmovd_xmm_rm32, Register::EAX),
            (true, false) => (Code::VEX_Vmovq_xmm_rm64, Register::RAX),
            (true, true) => (Code::EVEX_Vmovq_xmm_rm64, Register::RAX),
        };
        self.assembler.emit_rr(code, Width::Xmm.register(dest), source);
        let broadcast = if wide { BROADCASTQ } else { BROADCASTD };
        let source = (Width::Xmm, Operand::Vector(dest));
        self.assembler.convert(broadcast, width, (width, dest), source, Masking::None);
        let key = (access, self.dtype(value));
        if let Some(index) = self.layout.offsets.iter().position(|other| *other == key)
            && stride != Stride::Zero
        {
            let at = self.layout.lane_offsets(index);
            let add = if wide { ADDQ } else { ADDD };
            let offsets = Operand::Memory(Memory::at(ARGUMENTS, at));
            self.assembler.op3(add, width, dest, dest, offsets);
        }
        Ok(())
    }
}
