#include "textflag.h"

// func bestAVX2(best *float32, codes *byte, inverse *float32, groups int, words *int8, offsets *int32, n int, room *byte)
//
// A group is eight tokens of 32 bytes. The codes of 2 bits are unpacked into room, a byte each. Four products of a code of at
// most 3 with one of at most 127 are added in pairs as int16: 8 * 3 * 127 fits. A word has eight numbers of best.
TEXT ·bestAVX2(SB), NOSPLIT, $0-64
	MOVQ codes+8(FP), SI
	MOVQ inverse+16(FP), R9
	MOVQ groups+24(FP), R10
	MOVQ room+56(FP), BX
	VPCMPEQW Y15, Y15, Y15
	VPSRLW $15, Y15, Y15
	MOVL $0x03030303, AX
	VMOVD AX, X14
	VPBROADCASTD X14, Y14

group:
	XORQ AX, AX
	MOVQ BX, DX

unpack:
	VMOVDQU (SI), Y0
	VPSRLW $2, Y0, Y1
	VPSRLW $4, Y0, Y2
	VPSRLW $6, Y0, Y3
	VPAND Y14, Y0, Y0
	VPAND Y14, Y1, Y1
	VPAND Y14, Y2, Y2
	VPAND Y14, Y3, Y3
	VMOVDQU Y0, (DX)
	VMOVDQU Y1, 32(DX)
	VMOVDQU Y2, 64(DX)
	VMOVDQU Y3, 96(DX)
	ADDQ $32, SI
	ADDQ $128, DX
	INCQ AX
	CMPQ AX, $8
	JLT unpack

	MOVQ best+0(FP), DI
	MOVQ words+32(FP), R8
	MOVQ offsets+40(FP), R11
	MOVQ n+48(FP), CX
	VMOVUPS (R9), Y13

word:
	VMOVDQU (R8), Y8
	VMOVDQU 32(R8), Y9
	VMOVDQU 64(R8), Y10
	VMOVDQU 96(R8), Y11

#define products(AT, Y) \
	VMOVDQU AT(BX), Y \
	VMOVDQU AT+32(BX), Y12 \
	VPMADDUBSW Y8, Y, Y \
	VPMADDUBSW Y9, Y12, Y12 \
	VPADDW Y12, Y, Y \
	VMOVDQU AT+64(BX), Y12 \
	VPMADDUBSW Y10, Y12, Y12 \
	VPADDW Y12, Y, Y \
	VMOVDQU AT+96(BX), Y12 \
	VPMADDUBSW Y11, Y12, Y12 \
	VPADDW Y12, Y, Y \
	VPMADDWD Y15, Y, Y

	products(0, Y0)
	products(128, Y1)
	products(256, Y2)
	products(384, Y3)
	products(512, Y4)
	products(640, Y5)
	products(768, Y6)
	products(896, Y7)
	VPHADDD Y1, Y0, Y0
	VPHADDD Y3, Y2, Y2
	VPHADDD Y2, Y0, Y0 // the halves of tokens 0 to 3
	VPHADDD Y5, Y4, Y4
	VPHADDD Y7, Y6, Y6
	VPHADDD Y6, Y4, Y4 // of 4 to 7
	VPERM2I128 $0x20, Y4, Y0, Y1
	VPERM2I128 $0x31, Y4, Y0, Y2
	VPADDD Y2, Y1, Y0
	VPADDD Y0, Y0, Y0
	VPBROADCASTD (R11), Y1
	VPADDD Y1, Y0, Y0
	VCVTDQ2PS Y0, Y0
	VMULPS Y13, Y0, Y0
	VMAXPS (DI), Y0, Y0
	VMOVUPS Y0, (DI)
	ADDQ $32, DI
	ADDQ $128, R8
	ADDQ $4, R11
	DECQ CX
	JNZ word

	ADDQ $32, R9
	DECQ R10
	JNZ group
	VZEROUPPER
	RET
