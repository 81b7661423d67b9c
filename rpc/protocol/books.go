package protocol

import (
	"github.com/ctxd/ctxd/entities/record"
)

// BooksPut are the parameters of books.put.
type BooksPut struct {
	ID             string `json:"id,omitempty" jsonschema:"id of the book; a new one when absent"`
	Path           string `json:"path,omitempty" jsonschema:"absolute path of a file on the machine of the daemon"`
	Content        string `json:"content,omitempty" jsonschema:"instead of path: the bytes of the file in base64, with mimeType or name; at most what limits.textBytes allows"`
	Text           string `json:"text,omitempty" jsonschema:"instead of path: what the file says, for md, txt, html and csv"`
	MimeType       string `json:"mimeType,omitempty" jsonschema:"content type of the file, or the name of its format; told from its name and its first bytes when absent"`
	Name           string `json:"name,omitempty" jsonschema:"name of the file; the last part of path when absent"`
	Title          string `json:"title,omitempty" jsonschema:"what the book is called; what the file says when absent, else its name"`
	Author         string `json:"author,omitempty" jsonschema:"who wrote it; what the file says when absent"`
	Private        bool   `json:"private,omitempty" jsonschema:"keep the book from remote models"`
	ConversationID string `json:"conversationId,omitempty" jsonschema:"show the book to this conversation alone, until books.publish; it is private while the conversation is"`
}

// BookPut is the result of books.put.
type BookPut struct {
	Book      *record.Book `json:"book" jsonschema:"the book, ready"`
	Duplicate bool         `json:"duplicate" jsonschema:"whether a book of the same bytes was there already, which is this one"`
}

// BookRef names a book.
type BookRef struct {
	ID string `json:"id" jsonschema:"the book"`
}

// BooksGet are the parameters of books.get.
type BooksGet struct {
	ID             string `json:"id" jsonschema:"the book"`
	Section        string `json:"section,omitempty" jsonschema:"read this section and those below it: its heading, or several of them joined by \" > \""`
	Text           bool   `json:"text,omitempty" jsonschema:"read the passages of the whole book; those of a section are read in any case"`
	ConversationID string `json:"conversationId,omitempty" jsonschema:"the conversation that asks: it sees its own books"`
	Page
	Reads
}

// BookSection is a part of a book under one heading.
type BookSection struct {
	Path     []string `json:"path" jsonschema:"the headings above it and its own, outermost first; empty for what stands before all headings"`
	Page     int      `json:"page,omitempty" jsonschema:"the page that it begins on; absent where the format has none"`
	Passages int      `json:"passages" jsonschema:"how many passages it has, without those of sections below it"`
}

// BookFull is a book with its sections or its passages.
type BookFull struct {
	Book       *record.Book      `json:"book" jsonschema:"the book"`
	Sections   []BookSection     `json:"sections,omitempty" jsonschema:"its sections in order, where no section was asked for"`
	Passages   []*record.Passage `json:"passages,omitempty" jsonschema:"what was read, in order. A passage of a longer text begins with the last sentence of the one before"`
	NextCursor string            `json:"nextCursor,omitempty" jsonschema:"cursor of the next page of passages; absent on the last"`
}

// BooksList are the parameters of books.list.
type BooksList struct {
	ConversationID string `json:"conversationId,omitempty" jsonschema:"list the books of this conversation as well"`
	State          string `json:"state,omitempty" enum:"pending,processing,ready,failed" jsonschema:"books in this state only"`
	Page
	Reads
}

// BookList is the result of books.list.
type BookList struct {
	Books      []*record.Book `json:"books" jsonschema:"the books, the latest first"`
	NextCursor string         `json:"nextCursor,omitempty" jsonschema:"cursor of the next page; absent on the last"`
}

// BooksSearch are the parameters of books.search.
type BooksSearch struct {
	Query          string `json:"query" jsonschema:"a question, or words of what is looked for"`
	ConversationID string `json:"conversationId,omitempty" jsonschema:"search the books of this conversation as well"`
	Limit          int    `json:"limit,omitempty" min:"1" max:"50" default:"5" jsonschema:"passages at most"`
	Reads
}

// BookHit is a passage that was found.
type BookHit struct {
	Position int             `json:"position" jsonschema:"its place, from 1"`
	Passage  *record.Passage `json:"passage" jsonschema:"the passage, whole, and how to cite it"`
	Score    float64         `json:"score" jsonschema:"how well it answers, 0 to 1, in hundredths"`
	Ranges   [][2]int        `json:"ranges" jsonschema:"matches in its text: UTF-16, half-open"`
}

// BooksFound is the result of books.search.
type BooksFound struct {
	Hits       []BookHit `json:"hits" jsonschema:"the best first"`
	Confidence string    `json:"confidence" enum:"high,medium,low" jsonschema:"how sure it is that they answer"`
	Reason     string    `json:"reason" jsonschema:"why"`
	Degraded   *Degraded `json:"degraded,omitempty" jsonschema:"why passages may be missing or in another order"`
}

const (
	exampleBook = `{"id":"6ba7b810-9dad-41d1-80b4-00c04fd430c8","title":"Beekeeping","author":"A. Root","format":"pdf","file":"bees.pdf","bytes":481203,` +
		`"state":"ready","pages":96,"passages":214,"private":false,"createdAt":"2026-03-04T09:00:00Z","updatedAt":"2026-03-04T09:00:09Z"}`
	examplePassage = `{"id":"6ba7b810-9dad-41d1-80b4-00c04fd430c8.000031","bookId":"6ba7b810-9dad-41d1-80b4-00c04fd430c8","book":"Beekeeping",` +
		`"section":["Winter","Feeding"],"page":12,"offset":20411,"text":"A colony needs fifteen kilograms of stores.","cite":"[Beekeeping, Winter > Feeding, p. 12]"}`
	exampleBookID = `{"id":"6ba7b810-9dad-41d1-80b4-00c04fd430c8"}`
)

var bookMethods = []Method{
	job(JobBooks, daemon(describe[BooksPut, BookPut]("books.put", Job,
		"Add a file to ask about it: md, txt, html, csv, docx, xlsx, pdf or epub.",
		"It is converted, cut into passages and indexed; $/progress says convert, cut, index or embed. The same bytes twice are one book. "+
			"A book whose file can't be read stays, failed with the reason, and data.ref is its id. A call that is cancelled leaves nothing; what a stop of the daemon interrupts goes on after the next start.",
		Example{
			`{"text":"# Winter\n\nA colony needs fifteen kilograms of stores.\n","mimeType":"md","title":"Beekeeping"}`,
			`{"book":{"id":"6ba7b810-9dad-41d1-80b4-00c04fd430c8","title":"Beekeeping","format":"md","bytes":54,"state":"ready","passages":1,"private":false,` +
				`"createdAt":"2026-03-04T09:00:00Z","updatedAt":"2026-03-04T09:00:09Z"},"duplicate":false}`,
		},
		CodeNotFound, CodeConflict, CodeLimit, CodeUnavailable))),
	describe[BooksGet, BookFull]("books.get", Read,
		"Read a book: its sections, or the passages of one.", "",
		Example{exampleBookID, `{"book":` + exampleBook + `,"sections":[{"path":["Winter","Feeding"],"page":12,"passages":3}]}`},
		CodeNotFound),
	describe[BooksList, BookList]("books.list", Read,
		"List the books, the latest first.", "",
		Example{`{"limit":1}`, `{"books":[` + exampleBook + `]}`}),
	describe[BooksSearch, BooksFound]("books.search", Read,
		"Find the passages of books that answer a question, with how to cite them.",
		"By words and by meaning. memory.search {kinds: [\"passages\"]} finds the same.",
		Example{
			`{"query":"How much do bees need for the winter?","limit":1}`,
			`{"hits":[{"position":1,"passage":` + examplePassage + `,"score":0.61,"ranges":[[9,14]]}],"confidence":"medium","reason":"nothing is very near to the question"}`,
		}),
	describe[BookRef, record.Book]("books.publish", Mutation,
		"Show a book of a conversation to all.", "",
		Example{exampleBookID, exampleBook}, CodeNotFound, CodeUnavailable),
	describe[BookRef, Deleted]("books.remove", Mutation,
		"Remove a book with its passages.", "The next call does not find it. Its room in the files is free after the next snapshot.",
		Example{exampleBookID, exampleBookID}, CodeNotFound, CodeUnavailable),
}
