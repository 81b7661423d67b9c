#include "textflag.h"

// func scanAVX2(dots *int32, codes, query *int8, magnitude *uint8, rows, stride int)
//
// 64 codes a turn. The multiplication that takes 32 bytes at once wants one
// side unsigned, so the sign of the question goes over to the row:
// |q| * (row * sign q). Pairs of products fit int16: 2 * 127 * 127 < 32768.
TEXT ·scanAVX2(SB), NOSPLIT, $0-48
	MOVQ dots+0(FP), DI
	MOVQ codes+8(FP), SI
	MOVQ query+16(FP), DX
	MOVQ magnitude+24(FP), R8
	MOVQ rows+32(FP), CX
	MOVQ stride+40(FP), R9
	VPCMPEQW Y15, Y15, Y15
	VPSRLW $15, Y15, Y15 // 16 ones, to add the pairs up to int32

row:
	TESTQ CX, CX
	JZ done
	VPXOR Y0, Y0, Y0
	VPXOR Y1, Y1, Y1
	XORQ BX, BX

step:
	VMOVDQU (SI)(BX*1), Y2
	VMOVDQU 32(SI)(BX*1), Y3
	VPSIGNB (DX)(BX*1), Y2, Y2
	VPSIGNB 32(DX)(BX*1), Y3, Y3
	VMOVDQU (R8)(BX*1), Y4
	VMOVDQU 32(R8)(BX*1), Y5
	VPMADDUBSW Y2, Y4, Y4
	VPMADDUBSW Y3, Y5, Y5
	VPMADDWD Y15, Y4, Y4
	VPMADDWD Y15, Y5, Y5
	VPADDD Y4, Y0, Y0
	VPADDD Y5, Y1, Y1
	ADDQ $64, BX
	CMPQ BX, R9
	JLT step

	VPADDD Y1, Y0, Y0
	VEXTRACTI128 $1, Y0, X1
	VPADDD X1, X0, X0
	VPSHUFD $0x4E, X0, X1
	VPADDD X1, X0, X0
	VPSHUFD $0xB1, X0, X1
	VPADDD X1, X0, X0
	VMOVD X0, (DI)
	ADDQ $4, DI
	ADDQ R9, SI
	DECQ CX
	JMP row

done:
	VZEROUPPER
	RET
