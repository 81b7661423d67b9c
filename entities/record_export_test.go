package entities

// The codec of entities, for its fuzz test.
var (
	EncodeRecord = encode
	DecodeRecord = decode
)
