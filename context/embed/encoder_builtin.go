package embed

import _ "embed"

//go:embed encoder.bin
var builtinEncoder []byte
