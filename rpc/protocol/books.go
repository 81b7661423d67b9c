package protocol

import "github.com/ctxd/ctxd/entities/record"

// BooksGet are the parameters of books.get.
type BooksGet struct {
	Ref            string `json:"ref" formerly:"id" jsonschema:"id or title of the book, or the beginning of its id, of at least 8 characters"`
	Section        string `json:"section,omitempty" jsonschema:"read this section and those below it: its heading, or several of them joined by \" > \""`
	Text           bool   `json:"text,omitempty" jsonschema:"read the passages of the whole book; those of a section are read in any case"`
	ConversationID string `json:"conversationId,omitempty" jsonschema:"the conversation that asks: it sees its own books"`
	Page
	Reads
}

// BooksList are the parameters of books.list.
type BooksList struct {
	ConversationID string `json:"conversationId,omitempty" jsonschema:"list the books of this conversation as well"`
	State          string `json:"state,omitempty" enum:"pending,processing,ready,failed" jsonschema:"books in this state only"`
	Page
	Reads
}

// BooksSearch are the parameters of books.search.
type BooksSearch struct {
	Query          string `json:"query" jsonschema:"a question, or words of what is looked for"`
	ConversationID string `json:"conversationId,omitempty" jsonschema:"search the books of this conversation as well"`
	Limit          int    `json:"limit,omitempty" min:"1" max:"50" default:"5" jsonschema:"passages at most"`
	Reads
}

// BooksFound is the result of books.search.
type BooksFound struct {
	Hits       []record.BookHit `json:"hits" jsonschema:"the best first"`
	Confidence string           `json:"confidence" enum:"high,medium,low" jsonschema:"how sure it is that they answer"`
	Reason     string           `json:"reason" jsonschema:"why"`
	Degraded   *Degraded        `json:"degraded,omitempty" jsonschema:"why passages may be missing or in another order"`
}

const (
	exampleBook = `{"id":"6ba7b810-9dad-41d1-80b4-00c04fd430c8","title":"Beekeeping","author":"A. Root","format":"pdf","file":"bees.pdf","bytes":481203,` +
		`"state":"ready","pages":96,"passages":214,"private":false,"createdAt":"2026-03-04T09:00:00Z","updatedAt":"2026-03-04T09:00:09Z"}`
	examplePassage = `{"id":"6ba7b810-9dad-41d1-80b4-00c04fd430c8.000031","bookId":"6ba7b810-9dad-41d1-80b4-00c04fd430c8","book":"Beekeeping",` +
		`"section":["Winter","Feeding"],"page":12,"offset":20411,"text":"A colony needs fifteen kilograms of stores.","cite":"[Beekeeping, Winter > Feeding, p. 12]"}`
	exampleBookID = `{"id":"6ba7b810-9dad-41d1-80b4-00c04fd430c8"}`
)

var bookMethods = []Method{
	job(JobBooks, daemon(describe[record.BooksAdd, record.BookAdded]("books.add", Job,
		"Add a file to ask about it: md, txt, html, csv, docx, xlsx, pdf or epub.",
		"It is converted, cut into passages and indexed; $/progress says convert, cut, index or embed. The same bytes twice are one book. "+
			"A book whose file can't be read stays, failed with the reason, and data.ref is its id. A call that is cancelled leaves nothing; what a stop of the daemon interrupts goes on after the next start.",
		Example{`{"text":"# Winter\n\nA colony needs fifteen kilograms of stores.\n","mimeType":"md","title":"Beekeeping"}`, `{"book":` + exampleBook + `,"duplicate":false}`},
		CodeNotFound, CodeConflict, CodeLimit, CodeUnavailable))),
	describe[BooksGet, record.BookFull]("books.get", Read,
		"Read a book: its sections, or the passages of one.", "", Example{`{"ref":"Beekeeping"}`, `{"book":` + exampleBook + `,"sections":[{"path":["Winter","Feeding"],"page":12,"passages":3}]}`},
		CodeNotFound),
	describe[BooksList, record.BookList]("books.list", Read,
		"List the books, the latest first.", "",
		Example{`{"limit":1}`, `{"books":[` + exampleBook + `]}`}),
	describe[BooksSearch, BooksFound]("books.search", Read,
		"Find the passages of books that answer a question, with how to cite them.",
		"By words and by meaning. memory.search {kinds: [\"passages\"]} finds the same.",
		Example{
			`{"query":"How much do bees need for the winter?","limit":1}`,
			`{"hits":[{"position":1,"passage":` + examplePassage + `,"score":0.61,"ranges":[[9,14]]}],"confidence":"medium","reason":"nothing is very near to the question"}`,
		}),
	describe[record.BookRef, record.Book]("books.publish", Mutation,
		"Show a book of a conversation to all.", "", Example{exampleBookID, exampleBook}, CodeNotFound, CodeUnavailable),
	describe[record.BookRef, Deleted]("books.delete", Mutation,
		"Remove a book with its passages.", "The next call does not find it. Its room in the files is free after the next snapshot.",
		Example{exampleBookID, exampleBookID}, CodeNotFound, CodeUnavailable),
}
