package chat

// Recoded reads a stored message and writes it again.
func Recoded(stored string) (string, error) {
	m, err := messageCodec.Decode(stored)
	if err != nil {
		return "", err
	}
	return messageCodec.Encode(m)
}
