package notes

// The codec of notes, for its fuzz test.
var (
	EncodeRecord = encode
	DecodeRecord = decode
)
