#include "textflag.h"

#define SDOT(m, n, d) WORD $(0x4E809400 | m<<16 | n<<5 | d)

// func dotsSDOT(dots *int32, codes *byte, words *int8, n int, room *byte)
//
// Eight tokens of 32 bytes and n words of 128 codes: eight numbers a word. The codes of 2 bits are unpacked into room as what
// they are worth, 2c-3.
TEXT ·dotsSDOT(SB), NOSPLIT, $0-40
	MOVD dots+0(FP), R0
	MOVD codes+8(FP), R1
	MOVD words+16(FP), R2
	MOVD n+24(FP), R3
	MOVD room+32(FP), R4
	VMOVI $3, V31.B16
	MOVD R4, R5
	MOVD $16, R6

unpack: // half a token a turn: 16 bytes, whose coordinates stand 32 apart
	VLD1.P 16(R1), [V0.B16]
	VAND V31.B16, V0.B16, V1.B16
	VUSHR $2, V0.B16, V2.B16
	VAND V31.B16, V2.B16, V2.B16
	VUSHR $4, V0.B16, V3.B16
	VAND V31.B16, V3.B16, V3.B16
	VUSHR $6, V0.B16, V4.B16
	VADD V1.B16, V1.B16, V1.B16
	VADD V2.B16, V2.B16, V2.B16
	VADD V3.B16, V3.B16, V3.B16
	VADD V4.B16, V4.B16, V4.B16
	VSUB V31.B16, V1.B16, V1.B16
	VSUB V31.B16, V2.B16, V2.B16
	VSUB V31.B16, V3.B16, V3.B16
	VSUB V31.B16, V4.B16, V4.B16
	ADD $32, R5, R7
	ADD $64, R5, R8
	ADD $96, R5, R9
	VST1 [V1.B16], (R5)
	VST1 [V2.B16], (R7)
	VST1 [V3.B16], (R8)
	VST1 [V4.B16], (R9)
	ADD $16, R5
	TST $1, R6
	BEQ first
	ADD $96, R5 // to the next token

first:
	SUBS $1, R6, R6
	BNE unpack

word:
	VLD1.P 64(R2), [V0.B16, V1.B16, V2.B16, V3.B16]
	VLD1.P 64(R2), [V4.B16, V5.B16, V6.B16, V7.B16]
	MOVD R4, R5
	MOVD $8, R6

token:
	VLD1.P 64(R5), [V16.B16, V17.B16, V18.B16, V19.B16]
	VLD1.P 64(R5), [V20.B16, V21.B16, V22.B16, V23.B16]
	VEOR V24.B16, V24.B16, V24.B16
	VEOR V25.B16, V25.B16, V25.B16
	SDOT(0, 16, 24)
	SDOT(1, 17, 25)
	SDOT(2, 18, 24)
	SDOT(3, 19, 25)
	SDOT(4, 20, 24)
	SDOT(5, 21, 25)
	SDOT(6, 22, 24)
	SDOT(7, 23, 25)
	VADD V25.S4, V24.S4, V24.S4
	VADDV V24.S4, V24
	VMOV V24.S[0], R7
	MOVW R7, (R0)
	ADD $4, R0
	SUBS $1, R6, R6
	BNE token
	SUBS $1, R3, R3
	BNE word
	RET
