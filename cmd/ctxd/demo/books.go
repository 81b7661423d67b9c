package demo

import (
	"encoding/base64"

	"github.com/ctxd/ctxd/context/gather"
	"github.com/ctxd/ctxd/context/prompt"
	"github.com/ctxd/ctxd/entities/record"
	"github.com/ctxd/ctxd/fixtures"
)

// What the demo asks of a book.
const (
	asked         = "How long do the batteries last?"
	foundPassages = 2
)

// read is what came of a book.
type read struct {
	Book    *record.Book  `json:"book"`
	Context prompt.Result `json:"context"`
}

// reads adds a book.
func (j *job) reads() error {
	name, data := fixtures.Book()
	var put record.BookAdded
	err := j.call("books.add", record.BooksAdd{Name: name, Content: base64.StdEncoding.EncodeToString(data)}, &put, nil)
	if err == nil {
		j.did.Read.Book = put.Book
		j.show.book(j.last(), put.Book)
	}
	return err
}

// asks assembles the prompt of a question that the book answers.
func (j *job) asks() error {
	did := &j.did.Read
	err := j.call("context.assemble", gather.Params{Text: asked, Passages: foundPassages}, &did.Context, nil)
	if err == nil {
		j.show.passages(j.last(), did)
	}
	return err
}
