package words

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
	var head rawHeader
	_, err = io.ReadFull(r, head[:])
	if err != nil {
		return c, errors.New("it is too short")
	}
	h, err := head.Read(analysisVersion, info.Size())
	if err != nil {
		return c, errors.New(reasonOf(err))
	}
	c = Contents{h.Seq, h.Docs}
	frames := newFrameReader(r, info.Size()-fileHeaderSize)
	for !frames.Done() {
		if frames.Record() != nil {
			return c, errors.New("a part of it is damaged")
		}
		frames.Skip()
	}
	return c, nil
}
