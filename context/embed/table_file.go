package embed

import (
	"errors"
	"io"
	"io/fs"
	"os"

	"github.com/ctxd/ctxd/entities/fault"
)

// maxTableFile is how large the file of a table may be, 256 MiB.
const maxTableFile = 256 << 20

// hintTable says where a table comes from.
const hintTable = "task model:multilingual makes one, in a copy of the repository; then name it by embedding.table"

// OpenTable reads a table from its file and checks it, in about 230 ms, and takes a little
// more memory than the file is long. It is read, not mapped: a file that somebody
// shortens meanwhile must not end the program.
//
// It fails with fault.Unavailable, which says what is wrong with the file and not
// where it is.
func OpenTable(path string) (*StaticTable, error) {
	data, err := readTable(path)
	if err != nil {
		return nil, err
	}
	s, err := ParseTable(data)
	if err != nil {
		return nil, fault.Wrap(fault.Unavailable, err, "the table can't be used: %v", err).
			WithHint("make it anew: %s", hintTable)
	}
	return s, nil
}

func readTable(path string) ([]byte, error) {
	cant := func(err error, why string) error {
		return fault.Wrap(fault.Unavailable, err, "the table can't be used: %s", why).WithHint("%s", hintTable)
	}
	info, err := os.Stat(path) // a pipe would keep the opening waiting
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, cant(err, "its file is not there")
	case err != nil:
		return nil, cant(err, "its file can't be reached")
	case !info.Mode().IsRegular():
		return nil, cant(nil, "it is not a regular file")
	case info.Size() > maxTableFile:
		return nil, cant(nil, "it is larger than 256 MiB")
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, cant(err, "its file can't be opened")
	}
	defer f.Close()
	data := make([]byte, info.Size())
	if _, err := io.ReadFull(f, data); err != nil {
		return nil, cant(err, "its file can't be read")
	}
	return data, nil
}
