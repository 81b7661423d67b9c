package lexical

import (
	"bufio"
	"errors"
	"io"
	"os"
)

// Contents are what a file of an index holds.
type Contents struct {
	Seq  uint64 // of the store, when it was written
	Docs int
}

// Inspect checks every frame of the file of an index, and changes nothing. Its errors say
// what is wrong with it. O(its size).
func Inspect(name string) (c Contents, err error) {
	file, err := os.Open(name)
	if err != nil {
		return c, err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return c, err
	}
	r := bufio.NewReaderSize(file, 256<<10)
	head := make([]byte, headerSize)
	_, err = io.ReadFull(r, head)
	if err != nil {
		return c, errors.New("it is too short")
	}
	h, err := readHeader(head, info.Size())
	if err != nil {
		return c, errors.New(reasonOf(err))
	}
	c = Contents{h.seq, h.docs}
	frames := &frameReader{r: r, left: info.Size() - headerSize}
	for frames.left > 0 {
		frames.rest = nil
		if frames.record() != nil {
			return c, errors.New("a part of it is damaged")
		}
	}
	return c, nil
}
