#include "textflag.h"

// sumRows adds up the eight numbers of each of four registers into the four of the first's lower half.
#define sumRows(A, B, C, D, HIGH, LOW) \
	VPHADDD B, A, A \
	VPHADDD D, C, C \
	VPHADDD C, A, A \
	VEXTRACTI128 $1, A, HIGH \
	VPADDD HIGH, LOW, LOW

// func multiplyAVX2(dst *float32, stride int, acts *byte, scales *float32, w *int8, wscales, bias *float32, k, tokens int)
//
// Four rows of weights times two tokens a turn, sixteen columns a step. The products of int16
// are exact: 2 * 127 * 127 * 1536 fits int32.
TEXT ·multiplyAVX2(SB), NOSPLIT, $0-72
	MOVQ dst+0(FP), DI
	MOVQ stride+8(FP), R8
	SHLQ $2, R8
	MOVQ acts+16(FP), SI
	MOVQ scales+24(FP), R9
	MOVQ w+32(FP), DX
	MOVQ wscales+40(FP), AX
	VMOVUPS (AX), X14
	MOVQ bias+48(FP), AX
	VMOVUPS (AX), X15
	MOVQ k+56(FP), CX
	MOVQ tokens+64(FP), R10
	LEAQ (DX)(CX*1), R11
	LEAQ (R11)(CX*1), R12
	LEAQ (R12)(CX*1), R13

twoTokens:
	VPXOR Y0, Y0, Y0
	VPXOR Y1, Y1, Y1
	VPXOR Y2, Y2, Y2
	VPXOR Y3, Y3, Y3
	VPXOR Y4, Y4, Y4
	VPXOR Y5, Y5, Y5
	VPXOR Y6, Y6, Y6
	VPXOR Y7, Y7, Y7
	LEAQ (SI)(CX*2), BX
	XORQ AX, AX

columns:
	VMOVDQU (SI)(AX*2), Y8
	VMOVDQU (BX)(AX*2), Y9
	VPMOVSXBW (DX)(AX*1), Y10
	VPMADDWD Y8, Y10, Y11
	VPMADDWD Y9, Y10, Y12
	VPADDD Y11, Y0, Y0
	VPADDD Y12, Y4, Y4
	VPMOVSXBW (R11)(AX*1), Y13
	VPMADDWD Y8, Y13, Y11
	VPMADDWD Y9, Y13, Y12
	VPADDD Y11, Y1, Y1
	VPADDD Y12, Y5, Y5
	VPMOVSXBW (R12)(AX*1), Y10
	VPMADDWD Y8, Y10, Y11
	VPMADDWD Y9, Y10, Y12
	VPADDD Y11, Y2, Y2
	VPADDD Y12, Y6, Y6
	VPMOVSXBW (R13)(AX*1), Y13
	VPMADDWD Y8, Y13, Y11
	VPMADDWD Y9, Y13, Y12
	VPADDD Y11, Y3, Y3
	VPADDD Y12, Y7, Y7
	ADDQ $16, AX
	CMPQ AX, CX
	JLT columns

	sumRows(Y0, Y1, Y2, Y3, X8, X0)
	sumRows(Y4, Y5, Y6, Y7, X9, X4)
	VCVTDQ2PS X0, X0
	VCVTDQ2PS X4, X4
	VBROADCASTSS (R9), X8
	VBROADCASTSS 4(R9), X9
	VMULPS X14, X8, X8
	VMULPS X14, X9, X9
	VMULPS X8, X0, X0
	VMULPS X9, X4, X4
	VADDPS X15, X0, X0
	VADDPS X15, X4, X4
	VMOVUPS X0, (DI)
	VMOVUPS X4, (DI)(R8*1)
	LEAQ (DI)(R8*2), DI
	LEAQ (SI)(CX*4), SI
	ADDQ $8, R9
	SUBQ $2, R10
	JNZ twoTokens
	VZEROUPPER
	RET

// Begin four tokens with what their bytes have too much in 64 rows.
#define begin512(A, B, C, D) \
	VMOVDQU32 (AX), A \
	VMOVDQU32 64(AX), B \
	VMOVDQU32 128(AX), C \
	VMOVDQU32 192(AX), D

#define dot512(ACT, A, B, C, D) \
	VPDPBUSD Z16, ACT, A \
	VPDPBUSD Z17, ACT, B \
	VPDPBUSD Z18, ACT, C \
	VPDPBUSD Z19, ACT, D

#define write512(AT, ACC) \
	VMULPS AT(AX), Z16, Z17 \
	VCVTDQ2PS ACC, ACC \
	VMULPS Z17, ACC, ACC \
	VADDPS AT(BX), ACC, ACC \
	VMOVUPS ACC, AT(DI)

#define token512(T, A, B, C, D) \
	VBROADCASTSS T(R9), Z16 \
	write512(0, A) \
	write512(64, B) \
	write512(128, C) \
	write512(192, D) \
	ADDQ R8, DI

// func multiplyVNNI512(dst *float32, stride int, acts *byte, scales *float32, w *int8, wscales, bias *float32, excess *int32, k, tokens int)
//
// 64 rows of weights, in blocks, times four tokens a turn, four columns a step: a number of a
// register is a row.
TEXT ·multiplyVNNI512(SB), NOSPLIT, $0-80
	MOVQ dst+0(FP), DI
	MOVQ stride+8(FP), R8
	SHLQ $2, R8
	MOVQ acts+16(FP), SI
	MOVQ scales+24(FP), R9
	MOVQ k+64(FP), CX
	MOVQ tokens+72(FP), R10
	MOVQ CX, AX
	SHLQ $4, AX
	MOVQ w+32(FP), DX
	ADDQ AX, DX // behind sixteen rows; the columns are counted up to here
	LEAQ (DX)(AX*1), R11
	LEAQ (R11)(AX*1), R12
	LEAQ (R12)(AX*1), R13

fourTokens512:
	MOVQ excess+56(FP), AX
	begin512(Z0, Z1, Z2, Z3)
	begin512(Z4, Z5, Z6, Z7)
	begin512(Z8, Z9, Z10, Z11)
	begin512(Z12, Z13, Z14, Z15)
	LEAQ (SI)(CX*2), BX
	ADDQ CX, BX
	MOVQ CX, AX
	SHLQ $4, AX
	NEGQ AX

columns512:
	VPBROADCASTD (SI), Z20
	VPBROADCASTD (SI)(CX*1), Z21
	VPBROADCASTD (SI)(CX*2), Z22
	VPBROADCASTD (BX), Z23
	VMOVDQU32 (DX)(AX*1), Z16
	VMOVDQU32 (R11)(AX*1), Z17
	VMOVDQU32 (R12)(AX*1), Z18
	VMOVDQU32 (R13)(AX*1), Z19
	dot512(Z20, Z0, Z1, Z2, Z3)
	dot512(Z21, Z4, Z5, Z6, Z7)
	dot512(Z22, Z8, Z9, Z10, Z11)
	dot512(Z23, Z12, Z13, Z14, Z15)
	ADDQ $4, SI
	ADDQ $4, BX
	ADDQ $64, AX
	JNZ columns512

	MOVQ wscales+40(FP), AX
	MOVQ bias+48(FP), BX
	token512(0, Z0, Z1, Z2, Z3)
	token512(4, Z4, Z5, Z6, Z7)
	token512(8, Z8, Z9, Z10, Z11)
	token512(12, Z12, Z13, Z14, Z15)
	LEAQ (SI)(CX*2), SI
	ADDQ CX, SI
	ADDQ $16, R9
	SUBQ $4, R10
	JNZ fourTokens512
	VZEROUPPER
	RET

// VPDPBUSD Y(8+HALF), Y(10+T), Y(ACC) in the encoding of AVX, which the assembler does not know; V is 0x2D - 8*T.
#define dotHalf(V, ACC, HALF) \
	BYTE $0xC4; BYTE $0xC2; BYTE $V; BYTE $0x50; BYTE $(0xC0 + 8*ACC + HALF)

#define tokenVNNI(T, A, B) \
	VBROADCASTSS T(R9), Y8 \
	VMULPS (AX), Y8, Y9 \
	VMULPS 32(AX), Y8, Y8 \
	VCVTDQ2PS A, A \
	VCVTDQ2PS B, B \
	VMULPS Y9, A, A \
	VMULPS Y8, B, B \
	VADDPS (BX), A, A \
	VADDPS 32(BX), B, B \
	VMOVUPS A, (DI) \
	VMOVUPS B, 32(DI) \
	ADDQ R8, DI

// func multiplyVNNI(dst *float32, stride int, acts *byte, scales *float32, w *int8, wscales, bias *float32, excess *int32, k, tokens int)
//
// As multiplyVNNI512, for sixteen rows.
TEXT ·multiplyVNNI(SB), NOSPLIT, $0-80
	MOVQ dst+0(FP), DI
	MOVQ stride+8(FP), R8
	SHLQ $2, R8
	MOVQ acts+16(FP), SI
	MOVQ scales+24(FP), R9
	MOVQ k+64(FP), CX
	MOVQ tokens+72(FP), R10
	MOVQ CX, AX
	SHLQ $4, AX
	MOVQ w+32(FP), DX
	ADDQ AX, DX

fourTokens:
	MOVQ excess+56(FP), AX
	VMOVDQU (AX), Y0
	VMOVDQU 32(AX), Y1
	VMOVDQA Y0, Y2
	VMOVDQA Y1, Y3
	VMOVDQA Y0, Y4
	VMOVDQA Y1, Y5
	VMOVDQA Y0, Y6
	VMOVDQA Y1, Y7
	LEAQ (SI)(CX*2), BX
	ADDQ CX, BX
	MOVQ CX, AX
	SHLQ $4, AX
	NEGQ AX

columnsVNNI:
	VMOVDQU (DX)(AX*1), Y8
	VMOVDQU 32(DX)(AX*1), Y9
	VPBROADCASTD (SI), Y10
	VPBROADCASTD (SI)(CX*1), Y11
	VPBROADCASTD (SI)(CX*2), Y12
	VPBROADCASTD (BX), Y13
	dotHalf(0x2D, 0, 0)
	dotHalf(0x2D, 1, 1)
	dotHalf(0x25, 2, 0)
	dotHalf(0x25, 3, 1)
	dotHalf(0x1D, 4, 0)
	dotHalf(0x1D, 5, 1)
	dotHalf(0x15, 6, 0)
	dotHalf(0x15, 7, 1)
	ADDQ $4, SI
	ADDQ $4, BX
	ADDQ $64, AX
	JNZ columnsVNNI

	MOVQ wscales+40(FP), AX
	MOVQ bias+48(FP), BX
	tokenVNNI(0, Y0, Y1)
	tokenVNNI(4, Y2, Y3)
	tokenVNNI(8, Y4, Y5)
	tokenVNNI(12, Y6, Y7)
	LEAQ (SI)(CX*2), SI
	ADDQ CX, SI
	ADDQ $16, R9
	SUBQ $4, R10
	JNZ fourTokens
	VZEROUPPER
	RET

// func mixAVX2(dst *float32, dstStride int, a *float32, aStride int, b *float32, bStride, k, n int)
//
// dst = a * b for four rows of a, sixteen columns of b a turn.
TEXT ·mixAVX2(SB), NOSPLIT, $0-64
	MOVQ dst+0(FP), DI
	MOVQ dstStride+8(FP), R8
	SHLQ $2, R8
	MOVQ a+16(FP), SI
	MOVQ aStride+24(FP), R9
	SHLQ $2, R9
	MOVQ b+32(FP), DX
	MOVQ bStride+40(FP), R10
	SHLQ $2, R10
	MOVQ n+56(FP), R11
	LEAQ (SI)(R9*1), R12 // row 1; row 2 is (SI)(R9*2), row 3 (R12)(R9*2)

sixteen:
	VXORPS Y0, Y0, Y0
	VXORPS Y1, Y1, Y1
	VXORPS Y2, Y2, Y2
	VXORPS Y3, Y3, Y3
	VXORPS Y4, Y4, Y4
	VXORPS Y5, Y5, Y5
	VXORPS Y6, Y6, Y6
	VXORPS Y7, Y7, Y7
	MOVQ k+48(FP), CX
	MOVQ SI, AX
	MOVQ R12, R13
	MOVQ DX, BX

inner:
	VMOVUPS (BX), Y8
	VMOVUPS 32(BX), Y9
	VBROADCASTSS (AX), Y10
	VBROADCASTSS (R13), Y11
	VBROADCASTSS (AX)(R9*2), Y12
	VBROADCASTSS (R13)(R9*2), Y13
	VFMADD231PS Y8, Y10, Y0
	VFMADD231PS Y9, Y10, Y1
	VFMADD231PS Y8, Y11, Y2
	VFMADD231PS Y9, Y11, Y3
	VFMADD231PS Y8, Y12, Y4
	VFMADD231PS Y9, Y12, Y5
	VFMADD231PS Y8, Y13, Y6
	VFMADD231PS Y9, Y13, Y7
	ADDQ $4, AX
	ADDQ $4, R13
	ADDQ R10, BX
	DECQ CX
	JNZ inner

	LEAQ (DI)(R8*1), AX
	VMOVUPS Y0, (DI)
	VMOVUPS Y1, 32(DI)
	VMOVUPS Y2, (AX)
	VMOVUPS Y3, 32(AX)
	VMOVUPS Y4, (DI)(R8*2)
	VMOVUPS Y5, 32(DI)(R8*2)
	VMOVUPS Y6, (AX)(R8*2)
	VMOVUPS Y7, 32(AX)(R8*2)
	ADDQ $64, DI
	ADDQ $64, DX
	SUBQ $16, R11
	JNZ sixteen
	VZEROUPPER
	RET

// fold adds up the eight numbers of Y into all places of its lower half X, by way of TMP.
#define fold(OP, Y, X, TMP) \
	VEXTRACTF128 $1, Y, TMP \
	OP TMP, X, X \
	VSHUFPS $0x4E, X, X, TMP \
	OP TMP, X, X \
	VSHUFPS $0xB1, X, X, TMP \
	OP TMP, X, X

// power replaces Y1 by e^Y1, as expf of the Cephes library does: 2^n * e^r with |r| <= ln(2)/2, and e^r by a polynomial. BX
// is powerConstants; Y3, Y8 and Y9 are changed.
#define power \
	VMAXPS (BX), Y1, Y1 \
	VMINPS 32(BX), Y1, Y1 \
	VMULPS 64(BX), Y1, Y8 \
	VROUNDPS $0, Y8, Y8 \
	VFNMADD231PS 96(BX), Y8, Y1 \
	VFNMADD231PS 128(BX), Y8, Y1 \
	VMOVUPS 160(BX), Y9 \
	VFMADD213PS 192(BX), Y1, Y9 \
	VFMADD213PS 224(BX), Y1, Y9 \
	VFMADD213PS 256(BX), Y1, Y9 \
	VFMADD213PS 288(BX), Y1, Y9 \
	VFMADD213PS 320(BX), Y1, Y9 \
	VMULPS Y1, Y1, Y3 \
	VADDPS 352(BX), Y1, Y1 \
	VFMADD231PS Y3, Y9, Y1 \
	VCVTPS2DQ Y8, Y8 \
	VPSLLD $23, Y8, Y8 \
	VPADDD Y8, Y1, Y1

// func softmaxAVX2(x *float32, n int, scale float32, constants *float32)
TEXT ·softmaxAVX2(SB), NOSPLIT, $0-32
	MOVQ x+0(FP), DI
	MOVQ n+8(FP), CX
	SHLQ $2, CX
	VBROADCASTSS scale+16(FP), Y7
	MOVQ constants+24(FP), BX
	VMOVUPS (DI), Y0
	XORQ AX, AX

greatest:
	VMAXPS (DI)(AX*1), Y0, Y0
	ADDQ $32, AX
	CMPQ AX, CX
	JLT greatest
	fold(VMAXPS, Y0, X0, X1)
	VBROADCASTSS X0, Y0
	VXORPS Y2, Y2, Y2
	XORQ AX, AX

each:
	VMOVUPS (DI)(AX*1), Y1
	VSUBPS Y0, Y1, Y1
	VMULPS Y7, Y1, Y1
	power
	VMOVUPS Y1, (DI)(AX*1)
	VADDPS Y1, Y2, Y2
	ADDQ $32, AX
	CMPQ AX, CX
	JLT each
	fold(VADDPS, Y2, X2, X1)
	VMOVSS 352(BX), X1
	VDIVSS X2, X1, X1
	VBROADCASTSS X1, Y1
	XORQ AX, AX

share:
	VMULPS (DI)(AX*1), Y1, Y0
	VMOVUPS Y0, (DI)(AX*1)
	ADDQ $32, AX
	CMPQ AX, CX
	JLT share
	VZEROUPPER
	RET

// func geluAVX2(x *float32, n int, constants *float32)
//
// x / (1 + e^-(x * (a + b*x*x))), the form by tanh of Hendrycks and Gimpel.
TEXT ·geluAVX2(SB), NOSPLIT, $0-24
	MOVQ x+0(FP), DI
	MOVQ n+8(FP), CX
	SHLQ $2, CX
	MOVQ constants+16(FP), BX
	XORQ AX, AX

eight:
	VMOVUPS (DI)(AX*1), Y0
	VMULPS Y0, Y0, Y1
	VMOVUPS 416(BX), Y2
	VFMADD213PS 384(BX), Y1, Y2
	VMULPS Y0, Y2, Y1
	power
	VADDPS 352(BX), Y1, Y1
	VDIVPS Y1, Y0, Y0
	VMOVUPS Y0, (DI)(AX*1)
	ADDQ $32, AX
	CMPQ AX, CX
	JLT eight
	VZEROUPPER
	RET

// func addNormAVX2(x, y, gamma, beta *float32, n int, epsilon float32)
//
// x = gamma * (x + y - mean) / sqrt(variance + epsilon) + beta
TEXT ·addNormAVX2(SB), NOSPLIT, $0-44
	MOVQ x+0(FP), DI
	MOVQ y+8(FP), SI
	MOVQ gamma+16(FP), R8
	MOVQ beta+24(FP), R9
	MOVQ n+32(FP), CX
	VCVTSI2SSQ CX, X6, X6
	SHLQ $2, CX
	VXORPS Y0, Y0, Y0
	XORQ AX, AX

add:
	VMOVUPS (DI)(AX*1), Y1
	VADDPS (SI)(AX*1), Y1, Y1
	VMOVUPS Y1, (DI)(AX*1)
	VADDPS Y1, Y0, Y0
	ADDQ $32, AX
	CMPQ AX, CX
	JLT add
	fold(VADDPS, Y0, X0, X1)
	VDIVSS X6, X0, X0
	VBROADCASTSS X0, Y0
	VXORPS Y2, Y2, Y2
	XORQ AX, AX

spread:
	VMOVUPS (DI)(AX*1), Y1
	VSUBPS Y0, Y1, Y1
	VFMADD231PS Y1, Y1, Y2
	ADDQ $32, AX
	CMPQ AX, CX
	JLT spread
	fold(VADDPS, Y2, X2, X1)
	VDIVSS X6, X2, X2
	VADDSS epsilon+40(FP), X2, X2
	VSQRTSS X2, X2, X2
	VBROADCASTSS X2, Y2
	XORQ AX, AX

normal:
	VMOVUPS (DI)(AX*1), Y1
	VSUBPS Y0, Y1, Y1
	VDIVPS Y2, Y1, Y1
	VMOVUPS (R9)(AX*1), Y3
	VFMADD231PS (R8)(AX*1), Y1, Y3
	VMOVUPS Y3, (DI)(AX*1)
	ADDQ $32, AX
	CMPQ AX, CX
	JLT normal
	VZEROUPPER
	RET

// scaled leaves in X3 what one of 127 steps up to the greatest of the CX numbers at SI is worth, and in Y2 what they are to be
// multiplied by. Y7 has all bits but that of the sign; 0x42FE0000 is 127.
#define scaled \
	VPCMPEQD Y7, Y7, Y7 \
	VPSRLD $1, Y7, Y7 \
	VXORPS Y0, Y0, Y0 \
	XORQ AX, AX \
largest: \
	VANDPS (SI)(AX*4), Y7, Y1 \
	VMAXPS Y1, Y0, Y0 \
	ADDQ $8, AX \
	CMPQ AX, CX \
	JLT largest \
	fold(VMAXPS, Y0, X0, X1) \
	MOVL $0x42FE0000, AX \
	VMOVD AX, X2 \
	VDIVSS X2, X0, X3 \
	VXORPS X4, X4, X4 \
	VUCOMISS X4, X0 \
	JEQ nothing \
	VDIVSS X0, X2, X2 \
nothing: \
	VBROADCASTSS X2, Y2

// sixteenWords makes the next sixteen of x words in Y0.
#define sixteenWords \
	VMULPS (SI)(AX*4), Y2, Y0 \
	VMULPS 32(SI)(AX*4), Y2, Y1 \
	VCVTPS2DQ Y0, Y0 \
	VCVTPS2DQ Y1, Y1 \
	VPACKSSDW Y1, Y0, Y0 \
	VPERMQ $0xD8, Y0, Y0

// func quantiseAVX2(dst *byte, x *float32, n int) (scale float32)
//
// dst is int16: x / scale, rounded, with scale such that the greatest is 127. Sixteen numbers a turn.
TEXT ·quantiseAVX2(SB), NOSPLIT, $0-28
	MOVQ dst+0(FP), DI
	MOVQ x+8(FP), SI
	MOVQ n+16(FP), CX
	scaled
	VMOVSS X3, scale+24(FP)
	XORQ AX, AX

sixteenCodes:
	sixteenWords
	VMOVDQU Y0, (DI)(AX*2)
	ADDQ $16, AX
	CMPQ AX, CX
	JLT sixteenCodes
	VZEROUPPER
	RET

// func quantiseBytesAVX2(dst *byte, x *float32, n int) (scale float32)
//
// dst is bytes: 128 + x / scale, rounded, with scale such that the greatest is 127. Sixteen numbers a turn.
TEXT ·quantiseBytesAVX2(SB), NOSPLIT, $0-28
	MOVQ dst+0(FP), DI
	MOVQ x+8(FP), SI
	MOVQ n+16(FP), CX
	scaled
	VMOVSS X3, scale+24(FP)
	MOVL $0x80808080, AX
	VMOVD AX, X5
	VPBROADCASTD X5, X5
	XORQ AX, AX

sixteenCodes:
	sixteenWords
	VEXTRACTI128 $1, Y0, X1
	VPACKSSWB X1, X0, X0
	VPXOR X5, X0, X0
	VMOVDQU X0, (DI)(AX*1)
	ADDQ $16, AX
	CMPQ AX, CX
	JLT sixteenCodes
	VZEROUPPER
	RET
