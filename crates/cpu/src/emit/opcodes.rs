//! Opcode table: the vector instructions in use, with their VEX (AVX2) and EVEX (AVX-512) forms.

use super::assembler::Op;
use iced_x86::Code;

macro_rules! ops {
    ($($name:ident: $vex:ident, $evex:ident;)*) => {
        $(pub(super) const $name: Op = Op { vex: Code::$vex, evex: Code::$evex };)*
        #[cfg(test)]
        pub(super) const ALL: &[(&str, Op)] = &[$((stringify!($name), $name)),*];
    };
}

ops! {
    ADDPS: VEX_Vaddps_xmm_xmm_xmmm128, EVEX_Vaddps_xmm_k1z_xmm_xmmm128b32;
    SUBPS: VEX_Vsubps_xmm_xmm_xmmm128, EVEX_Vsubps_xmm_k1z_xmm_xmmm128b32;
    MULPS: VEX_Vmulps_xmm_xmm_xmmm128, EVEX_Vmulps_xmm_k1z_xmm_xmmm128b32;
    DIVPS: VEX_Vdivps_xmm_xmm_xmmm128, EVEX_Vdivps_xmm_k1z_xmm_xmmm128b32;
    MINPS: VEX_Vminps_xmm_xmm_xmmm128, EVEX_Vminps_xmm_k1z_xmm_xmmm128b32;
    MAXPS: VEX_Vmaxps_xmm_xmm_xmmm128, EVEX_Vmaxps_xmm_k1z_xmm_xmmm128b32;
    SQRTPS: VEX_Vsqrtps_xmm_xmmm128, EVEX_Vsqrtps_xmm_k1z_xmmm128b32;
    ADDPD: VEX_Vaddpd_xmm_xmm_xmmm128, EVEX_Vaddpd_xmm_k1z_xmm_xmmm128b64;
    SUBPD: VEX_Vsubpd_xmm_xmm_xmmm128, EVEX_Vsubpd_xmm_k1z_xmm_xmmm128b64;
    MULPD: VEX_Vmulpd_xmm_xmm_xmmm128, EVEX_Vmulpd_xmm_k1z_xmm_xmmm128b64;
    DIVPD: VEX_Vdivpd_xmm_xmm_xmmm128, EVEX_Vdivpd_xmm_k1z_xmm_xmmm128b64;
    MINPD: VEX_Vminpd_xmm_xmm_xmmm128, EVEX_Vminpd_xmm_k1z_xmm_xmmm128b64;
    MAXPD: VEX_Vmaxpd_xmm_xmm_xmmm128, EVEX_Vmaxpd_xmm_k1z_xmm_xmmm128b64;
    SQRTPD: VEX_Vsqrtpd_xmm_xmmm128, EVEX_Vsqrtpd_xmm_k1z_xmmm128b64;
    FMADD213PS: VEX_Vfmadd213ps_xmm_xmm_xmmm128, EVEX_Vfmadd213ps_xmm_k1z_xmm_xmmm128b32;
    FMADD231PS: VEX_Vfmadd231ps_xmm_xmm_xmmm128, EVEX_Vfmadd231ps_xmm_k1z_xmm_xmmm128b32;
    FMADD213PD: VEX_Vfmadd213pd_xmm_xmm_xmmm128, EVEX_Vfmadd213pd_xmm_k1z_xmm_xmmm128b64;
    FMADD231PD: VEX_Vfmadd231pd_xmm_xmm_xmmm128, EVEX_Vfmadd231pd_xmm_k1z_xmm_xmmm128b64;
    ROUNDPS: VEX_Vroundps_xmm_xmmm128_imm8, EVEX_Vrndscaleps_xmm_k1z_xmmm128b32_imm8;
    ROUNDPD: VEX_Vroundpd_xmm_xmmm128_imm8, EVEX_Vrndscalepd_xmm_k1z_xmmm128b64_imm8;
    CMPPS: VEX_Vcmpps_xmm_xmm_xmmm128_imm8, EVEX_Vcmpps_kr_k1_xmm_xmmm128b32_imm8;
    CMPPD: VEX_Vcmppd_xmm_xmm_xmmm128_imm8, EVEX_Vcmppd_kr_k1_xmm_xmmm128b64_imm8;
    ANDPS: VEX_Vandps_xmm_xmm_xmmm128, EVEX_Vandps_xmm_k1z_xmm_xmmm128b32;
    ORPS: VEX_Vorps_xmm_xmm_xmmm128, EVEX_Vorps_xmm_k1z_xmm_xmmm128b32;
    XORPS: VEX_Vxorps_xmm_xmm_xmmm128, EVEX_Vxorps_xmm_k1z_xmm_xmmm128b32;
    ADDD: VEX_Vpaddd_xmm_xmm_xmmm128, EVEX_Vpaddd_xmm_k1z_xmm_xmmm128b32;
    SUBD: VEX_Vpsubd_xmm_xmm_xmmm128, EVEX_Vpsubd_xmm_k1z_xmm_xmmm128b32;
    MULLD: VEX_Vpmulld_xmm_xmm_xmmm128, EVEX_Vpmulld_xmm_k1z_xmm_xmmm128b32;
    MINSD: VEX_Vpminsd_xmm_xmm_xmmm128, EVEX_Vpminsd_xmm_k1z_xmm_xmmm128b32;
    MAXSD: VEX_Vpmaxsd_xmm_xmm_xmmm128, EVEX_Vpmaxsd_xmm_k1z_xmm_xmmm128b32;
    MINUD: VEX_Vpminud_xmm_xmm_xmmm128, EVEX_Vpminud_xmm_k1z_xmm_xmmm128b32;
    MAXUD: VEX_Vpmaxud_xmm_xmm_xmmm128, EVEX_Vpmaxud_xmm_k1z_xmm_xmmm128b32;
    ABSD: VEX_Vpabsd_xmm_xmmm128, EVEX_Vpabsd_xmm_k1z_xmmm128b32;
    SLLVD: VEX_Vpsllvd_xmm_xmm_xmmm128, EVEX_Vpsllvd_xmm_k1z_xmm_xmmm128b32;
    SRLVD: VEX_Vpsrlvd_xmm_xmm_xmmm128, EVEX_Vpsrlvd_xmm_k1z_xmm_xmmm128b32;
    SRAVD: VEX_Vpsravd_xmm_xmm_xmmm128, EVEX_Vpsravd_xmm_k1z_xmm_xmmm128b32;
    SLLD: VEX_Vpslld_xmm_xmm_imm8, EVEX_Vpslld_xmm_k1z_xmmm128b32_imm8;
    SRLD: VEX_Vpsrld_xmm_xmm_imm8, EVEX_Vpsrld_xmm_k1z_xmmm128b32_imm8;
    SRAD: VEX_Vpsrad_xmm_xmm_imm8, EVEX_Vpsrad_xmm_k1z_xmmm128b32_imm8;
    CMPEQD: VEX_Vpcmpeqd_xmm_xmm_xmmm128, INVALID;
    CMPGTD: VEX_Vpcmpgtd_xmm_xmm_xmmm128, INVALID;
    CMPD: INVALID, EVEX_Vpcmpd_kr_k1_xmm_xmmm128b32_imm8;
    CMPUD: INVALID, EVEX_Vpcmpud_kr_k1_xmm_xmmm128b32_imm8;
    ADDQ: VEX_Vpaddq_xmm_xmm_xmmm128, EVEX_Vpaddq_xmm_k1z_xmm_xmmm128b64;
    SUBQ: VEX_Vpsubq_xmm_xmm_xmmm128, EVEX_Vpsubq_xmm_k1z_xmm_xmmm128b64;
    MULLQ: INVALID, EVEX_Vpmullq_xmm_k1z_xmm_xmmm128b64;
    MINSQ: INVALID, EVEX_Vpminsq_xmm_k1z_xmm_xmmm128b64;
    MAXSQ: INVALID, EVEX_Vpmaxsq_xmm_k1z_xmm_xmmm128b64;
    MINUQ: INVALID, EVEX_Vpminuq_xmm_k1z_xmm_xmmm128b64;
    MAXUQ: INVALID, EVEX_Vpmaxuq_xmm_k1z_xmm_xmmm128b64;
    ABSQ: INVALID, EVEX_Vpabsq_xmm_k1z_xmmm128b64;
    SLLVQ: VEX_Vpsllvq_xmm_xmm_xmmm128, EVEX_Vpsllvq_xmm_k1z_xmm_xmmm128b64;
    SRLVQ: VEX_Vpsrlvq_xmm_xmm_xmmm128, EVEX_Vpsrlvq_xmm_k1z_xmm_xmmm128b64;
    SRAVQ: INVALID, EVEX_Vpsravq_xmm_k1z_xmm_xmmm128b64;
    CMPEQQ: VEX_Vpcmpeqq_xmm_xmm_xmmm128, INVALID;
    CMPGTQ: VEX_Vpcmpgtq_xmm_xmm_xmmm128, INVALID;
    CMPQ: INVALID, EVEX_Vpcmpq_kr_k1_xmm_xmmm128b64_imm8;
    CMPUQ: INVALID, EVEX_Vpcmpuq_kr_k1_xmm_xmmm128b64_imm8;
    BLENDVPS: VEX_Vblendvps_xmm_xmm_xmmm128_xmm, INVALID;
    BLENDVPD: VEX_Vblendvpd_xmm_xmm_xmmm128_xmm, INVALID;
    BLENDMPS: INVALID, EVEX_Vblendmps_xmm_k1z_xmm_xmmm128b32;
    BLENDMPD: INVALID, EVEX_Vblendmpd_xmm_k1z_xmm_xmmm128b64;
    BLENDPS: VEX_Vblendps_xmm_xmm_xmmm128_imm8, INVALID;
    BLENDPD: VEX_Vblendpd_xmm_xmm_xmmm128_imm8, INVALID;
    MOVAPS: VEX_Vmovaps_xmm_xmmm128, EVEX_Vmovaps_xmm_k1z_xmmm128;
    MOVAPD: VEX_Vmovapd_xmm_xmmm128, EVEX_Vmovapd_xmm_k1z_xmmm128;
    MOVUPS: VEX_Vmovups_xmm_xmmm128, EVEX_Vmovups_xmm_k1z_xmmm128;
    MOVUPD: VEX_Vmovupd_xmm_xmmm128, EVEX_Vmovupd_xmm_k1z_xmmm128;
    STOREUPS: VEX_Vmovups_xmmm128_xmm, EVEX_Vmovups_xmmm128_k1z_xmm;
    STOREUPD: VEX_Vmovupd_xmmm128_xmm, EVEX_Vmovupd_xmmm128_k1z_xmm;
    STORENTPS: VEX_Vmovntps_m128_xmm, EVEX_Vmovntps_m128_xmm;
    STORE8: INVALID, EVEX_Vmovdqu8_xmmm128_k1z_xmm;
    STORE16: INVALID, EVEX_Vmovdqu16_xmmm128_k1z_xmm;
    MASKLOADPS: VEX_Vmaskmovps_xmm_xmm_m128, INVALID;
    MASKLOADPD: VEX_Vmaskmovpd_xmm_xmm_m128, INVALID;
    MASKSTOREPS: VEX_Vmaskmovps_m128_xmm_xmm, INVALID;
    MASKSTOREPD: VEX_Vmaskmovpd_m128_xmm_xmm, INVALID;
    BROADCASTD: VEX_Vpbroadcastd_xmm_xmmm32, EVEX_Vpbroadcastd_xmm_k1z_xmmm32;
    BROADCASTQ: VEX_Vpbroadcastq_xmm_xmmm64, EVEX_Vpbroadcastq_xmm_k1z_xmmm64;
    MOVSXBD: VEX_Vpmovsxbd_xmm_xmmm32, EVEX_Vpmovsxbd_xmm_k1z_xmmm32;
    MOVZXBD: VEX_Vpmovzxbd_xmm_xmmm32, EVEX_Vpmovzxbd_xmm_k1z_xmmm32;
    MOVSXWD: VEX_Vpmovsxwd_xmm_xmmm64, EVEX_Vpmovsxwd_xmm_k1z_xmmm64;
    MOVZXWD: VEX_Vpmovzxwd_xmm_xmmm64, EVEX_Vpmovzxwd_xmm_k1z_xmmm64;
    MOVSXDQ: VEX_Vpmovsxdq_xmm_xmmm64, EVEX_Vpmovsxdq_xmm_k1z_xmmm64;
    MOVZXDQ: VEX_Vpmovzxdq_xmm_xmmm64, EVEX_Vpmovzxdq_xmm_k1z_xmmm64;
    MOVDB: INVALID, EVEX_Vpmovdb_xmmm32_k1z_xmm;
    MOVDW: INVALID, EVEX_Vpmovdw_xmmm64_k1z_xmm;
    MOVQD: INVALID, EVEX_Vpmovqd_xmmm64_k1z_xmm;
    PACKUSDW: VEX_Vpackusdw_xmm_xmm_xmmm128, EVEX_Vpackusdw_xmm_k1z_xmm_xmmm128b32;
    PACKUSWB: VEX_Vpackuswb_xmm_xmm_xmmm128, EVEX_Vpackuswb_xmm_k1z_xmm_xmmm128;
    SHUFPS: VEX_Vshufps_xmm_xmm_xmmm128_imm8, EVEX_Vshufps_xmm_k1z_xmm_xmmm128b32_imm8;
    SHUFD: VEX_Vpshufd_xmm_xmmm128_imm8, EVEX_Vpshufd_xmm_k1z_xmmm128b32_imm8;
    ABSB: VEX_Vpabsb_xmm_xmmm128, EVEX_Vpabsb_xmm_k1z_xmmm128;
    M2B: INVALID, EVEX_Vpmovm2b_xmm_kr;
    M2D: INVALID, EVEX_Vpmovm2d_xmm_kr;
    TESTMD: INVALID, EVEX_Vptestmd_kr_k1_xmm_xmmm128b32;
    CVTPH2PS: VEX_Vcvtph2ps_xmm_xmmm64, EVEX_Vcvtph2ps_xmm_k1z_xmmm64;
    CVTPS2PH: VEX_Vcvtps2ph_xmmm64_xmm_imm8, EVEX_Vcvtps2ph_xmmm64_k1z_xmm_imm8;
    CVTPS2PD: VEX_Vcvtps2pd_xmm_xmmm64, EVEX_Vcvtps2pd_xmm_k1z_xmmm64b32;
    CVTPD2PS: VEX_Vcvtpd2ps_xmm_xmmm128, EVEX_Vcvtpd2ps_xmm_k1z_xmmm128b64;
    CVTDQ2PS: VEX_Vcvtdq2ps_xmm_xmmm128, EVEX_Vcvtdq2ps_xmm_k1z_xmmm128b32;
    CVTUDQ2PS: INVALID, EVEX_Vcvtudq2ps_xmm_k1z_xmmm128b32;
    CVTDQ2PD: VEX_Vcvtdq2pd_xmm_xmmm64, EVEX_Vcvtdq2pd_xmm_k1z_xmmm64b32;
    CVTUDQ2PD: INVALID, EVEX_Vcvtudq2pd_xmm_k1z_xmmm64b32;
    CVTTPS2DQ: VEX_Vcvttps2dq_xmm_xmmm128, EVEX_Vcvttps2dq_xmm_k1z_xmmm128b32;
    CVTTPS2UDQ: INVALID, EVEX_Vcvttps2udq_xmm_k1z_xmmm128b32;
    CVTTPD2DQ: VEX_Vcvttpd2dq_xmm_xmmm128, EVEX_Vcvttpd2dq_xmm_k1z_xmmm128b64;
    CVTTPD2UDQ: INVALID, EVEX_Vcvttpd2udq_xmm_k1z_xmmm128b64;
    CVTTPD2QQ: INVALID, EVEX_Vcvttpd2qq_xmm_k1z_xmmm128b64;
    CVTTPD2UQQ: INVALID, EVEX_Vcvttpd2uqq_xmm_k1z_xmmm128b64;
    CVTQQ2PS: INVALID, EVEX_Vcvtqq2ps_xmm_k1z_xmmm128b64;
    CVTUQQ2PS: INVALID, EVEX_Vcvtuqq2ps_xmm_k1z_xmmm128b64;
    CVTQQ2PD: INVALID, EVEX_Vcvtqq2pd_xmm_k1z_xmmm128b64;
    CVTUQQ2PD: INVALID, EVEX_Vcvtuqq2pd_xmm_k1z_xmmm128b64;
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The 256- and 512-bit forms of every op follow its 128-bit form.
    #[test]
    fn wider_forms_follow_the_128_bit_form() {
        let mnemonic = |code: Code| format!("{code:?}").split('_').nth(1).map(str::to_string);
        let forms = |first: Code, widths: &[&str]| {
            for (step, width) in widths.iter().enumerate() {
                let code = Code::try_from(first as usize + step).expect("an instruction code");
                assert_eq!(mnemonic(code), mnemonic(first), "{first:?} + {step}");
                let memory = format!("{code:?}");
                assert!(memory.contains(width), "{memory} is not of width {width}");
            }
        };
        for &(name, op) in ALL {
            assert!(op.vex != Code::INVALID || op.evex != Code::INVALID, "{name}");
            if op.vex != Code::INVALID {
                forms(op.vex, &["xmm", "ymm"]);
            }
            if op.evex != Code::INVALID {
                forms(op.evex, &["xmm", "ymm", "zmm"]);
            }
        }
    }
}
