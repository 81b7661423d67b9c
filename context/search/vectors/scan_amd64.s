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

// sumFour adds up the 16 numbers of each of Z0 to Z3 into the four of X0.
#define sumFour \
	VEXTRACTI64X4 $1, Z0, Y4 \
	VEXTRACTI64X4 $1, Z1, Y5 \
	VEXTRACTI64X4 $1, Z2, Y6 \
	VEXTRACTI64X4 $1, Z3, Y7 \
	VPADDD Y4, Y0, Y0 \
	VPADDD Y5, Y1, Y1 \
	VPADDD Y6, Y2, Y2 \
	VPADDD Y7, Y3, Y3 \
	VPHADDD Y1, Y0, Y0 \
	VPHADDD Y3, Y2, Y2 \
	VPHADDD Y2, Y0, Y0 \
	VEXTRACTI128 $1, Y0, X4 \
	VPADDD X4, X0, X0

// addFour adds the products of 64 codes of Z4, which are unsigned, and of each of four questions to Z0 to Z3.
#define addFour(Z) \
	VPDPBUSD (R8)(BX*1), Z, Z0 \
	VPDPBUSD (R9)(BX*1), Z, Z1 \
	VPDPBUSD (R10)(BX*1), Z, Z2 \
	VPDPBUSD (R11)(BX*1), Z, Z3

#define zeroFour \
	VPXORD Z0, Z0, Z0 \
	VPXORD Z1, Z1, Z1 \
	VPXORD Z2, Z2, Z2 \
	VPXORD Z3, Z3, Z3 \
	XORQ BX, BX

// func scanFourVNNI(dots *int32, codes, of *int8, rows, stride int)
//
// The multiplication wants one side unsigned, so 128 is added to each code of a row, and
// 128 times the sum of a question taken off its products.
TEXT ·scanFourVNNI(SB), NOSPLIT, $0-40
	MOVQ dots+0(FP), DI
	MOVQ codes+8(FP), SI
	MOVQ of+16(FP), R8
	MOVQ rows+24(FP), CX
	MOVQ stride+32(FP), R12
	LEAQ (R8)(R12*1), R9
	LEAQ (R9)(R12*1), R10
	LEAQ (R10)(R12*1), R11
	MOVL $0x80808080, AX
	VPBROADCASTD AX, Z8
	zeroFour

sum:
	addFour(Z8)
	ADDQ $64, BX
	CMPQ BX, R12
	JLT sum
	sumFour
	VMOVDQU X0, X9

fourRows:
	zeroFour

fourStep:
	VPXORD (SI)(BX*1), Z8, Z4
	addFour(Z4)
	ADDQ $64, BX
	CMPQ BX, R12
	JLT fourStep
	sumFour
	VPSUBD X9, X0, X0
	VMOVD X0, (DI)
	VPEXTRD $1, X0, 4096(DI) // 4 * blockRows
	VPEXTRD $2, X0, 8192(DI)
	VPEXTRD $3, X0, 12288(DI)
	ADDQ $4, DI
	ADDQ R12, SI
	DECQ CX
	JNZ fourRows
	VZEROUPPER
	RET
