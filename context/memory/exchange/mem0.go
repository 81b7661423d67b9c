package exchange

import (
	"encoding/json"
	"errors"
	"io"
	"strings"
	"time"

	"github.com/ctxd/ctxd/context/memory"
	"github.com/ctxd/ctxd/entities"
	"github.com/ctxd/ctxd/entities/fault"
)

// readMem0 reads a list of memories as mem0 gives it, or an object with one as its member results.
func readMem0(r *reader, yield func(memory.Row) error) error {
	in := &window{r: r}
	dec := json.NewDecoder(in)
	n := 0
	err := mem0(dec, in, &n, yield)
	var syntax *json.SyntaxError
	var typ *json.UnmarshalTypeError
	switch {
	case errors.As(err, &syntax), errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, io.EOF):
		return badAt("item", n+1, "cannot be read: the file is not valid JSON, or was cut off")
	case errors.As(err, &typ):
		return badAt("item", n+1, "cannot be read: it is no memory of mem0")
	case errors.Is(err, errShape):
		return fault.Field("path", "the file is no list of memories, and has none as its member results").
			WithHint("give a list of objects with the members id and memory, or say with format what it is")
	}
	return err
}

var errShape = errors.New("no list")

func mem0(dec *json.Decoder, in *window, n *int, yield func(memory.Row) error) error {
	first, err := dec.Token()
	if err != nil {
		return err
	}
	found := first == json.Delim('[')
	switch {
	case found:
		if err := mem0List(dec, in, n, yield); err != nil {
			return err
		}
	case first == json.Delim('{'):
		for dec.More() {
			name, err := dec.Token()
			if err != nil {
				return err
			}
			if name != "results" || found {
				var skipped json.RawMessage
				if err := dec.Decode(&skipped); err != nil {
					return err
				}
				in.begin(dec)
				continue
			}
			if list, err := dec.Token(); err != nil || list != json.Delim('[') {
				return errors.Join(err, errShape)
			}
			found = true
			if err := mem0List(dec, in, n, yield); err != nil {
				return err
			}
		}
		if _, err := dec.Token(); err != nil {
			return err
		}
	}
	if !found {
		return errShape
	}
	switch _, err := dec.Token(); {
	case errors.Is(err, io.EOF):
		return nil
	case err != nil:
		return err
	}
	return errShape
}

// mem0List reads the rest of a list behind its bracket.
func mem0List(dec *json.Decoder, in *window, n *int, yield func(memory.Row) error) error {
	for dec.More() {
		var item map[string]json.RawMessage
		if err := dec.Decode(&item); err != nil {
			return err
		}
		*n++
		in.begin(dec)
		if err := yield(memory.Row{Line: *n, Draft: mem0Draft(item)}); err != nil {
			return err
		}
	}
	_, err := dec.Token()
	return err
}

// mem0Draft returns the memory that an item is. What the program says besides is kept.
func mem0Draft(item map[string]json.RawMessage) *memory.Draft {
	var about struct {
		ID, Memory, CreatedAt string
		Private               any
		Categories            []string
		Metadata              struct {
			Category   string
			Categories []string
			Tags       []string
			Private    any
		}
	}
	// A member of another type than mem0 gives says nothing; it is kept as it is.
	get := func(of map[string]json.RawMessage, name string, to any) bool {
		return of[name] != nil && json.Unmarshal(of[name], to) == nil
	}
	get(item, "memory", &about.Memory)
	get(item, "categories", &about.Categories)
	get(item, "private", &about.Private)
	var metadata map[string]json.RawMessage
	if get(item, "metadata", &metadata) {
		get(metadata, "category", &about.Metadata.Category)
		get(metadata, "categories", &about.Metadata.Categories)
		get(metadata, "tags", &about.Metadata.Tags)
		get(metadata, "private", &about.Metadata.Private)
	}
	tags := append(append(about.Categories, about.Metadata.Categories...), about.Metadata.Tags...)
	d := foreign(Mem0, strings.TrimSpace(about.Memory), about.Metadata.Category, tags)
	d.Private = says(about.Private) || says(about.Metadata.Private)
	known := map[string]bool{"memory": true}
	if get(item, "id", &about.ID) && entities.CheckID("id", about.ID) == nil {
		d.ID, known["id"] = about.ID, true
	}
	if get(item, "created_at", &about.CreatedAt) {
		if at, err := time.Parse(time.RFC3339, about.CreatedAt); err == nil && at.Year() > 0 {
			d.CreatedAt, known["created_at"] = at, true
		}
	}
	for name, value := range item {
		if !known[name] && string(value) != "null" {
			keep(d, name, value)
		}
	}
	return d
}

// says reports whether something is said to be private: whatever is not plainly false.
func says(private any) bool { return private != nil && private != false }

// window gives a decoder what it reads, and not more of one item than maxLine.
type window struct {
	r     *reader
	limit int64
}

// begin lets another item be read.
func (w *window) begin(dec *json.Decoder) { w.limit = dec.InputOffset() + maxLine }

func (w *window) Read(p []byte) (int, error) {
	if w.limit == 0 {
		w.limit = maxLine
	}
	if w.r.at >= w.limit {
		return 0, fault.TooLarge("path", maxLine+1, maxLine, "bytes in one item")
	}
	n, err := w.r.in.Read(p[:min(int64(len(p)), w.limit-w.r.at)])
	w.r.at += int64(n)
	return n, err
}
