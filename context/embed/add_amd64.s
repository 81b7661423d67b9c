#include "textflag.h"

// func addAVX2(dst *float32, row *byte, scale float32, n int)
//
// Sixteen values a turn. Product and sum are rounded apart, as addPlain does: no
// fused multiplication and addition here.
TEXT ·addAVX2(SB), NOSPLIT, $0-32
	MOVQ dst+0(FP), DI
	MOVQ row+8(FP), SI
	VBROADCASTSS scale+16(FP), Y0
	MOVQ n+24(FP), CX
	XORQ BX, BX

step:
	VPMOVSXBD (SI)(BX*1), Y1
	VPMOVSXBD 8(SI)(BX*1), Y2
	VCVTDQ2PS Y1, Y1
	VCVTDQ2PS Y2, Y2
	VMULPS Y0, Y1, Y1
	VMULPS Y0, Y2, Y2
	VADDPS (DI)(BX*4), Y1, Y1
	VADDPS 32(DI)(BX*4), Y2, Y2
	VMOVUPS Y1, (DI)(BX*4)
	VMOVUPS Y2, 32(DI)(BX*4)
	ADDQ $16, BX
	CMPQ BX, CX
	JLT step

	VZEROUPPER
	RET
