package record

import "time"

// States of a book.
const (
	BookPending    = "pending"    // its file is kept, and is read when its turn comes
	BookProcessing = "processing" // its file is being read
	BookReady      = "ready"      // it is found
	BookFailed     = "failed"     // its file can't be read; Reason says why
)

// BookStates are all states of a book.
var BookStates = []string{BookPending, BookProcessing, BookReady, BookFailed}

// Book is a file that a person added to ask about it.
type Book struct {
	ID             string    `json:"id" jsonschema:"id of the book"`
	Title          string    `json:"title" jsonschema:"what it is called: as the caller says, else as the file says, else the name of the file"`
	Author         string    `json:"author,omitempty" jsonschema:"who wrote it, if that is known"`
	Format         string    `json:"format" jsonschema:"format of the file: md, txt, html, csv, docx, xlsx, pdf or epub"`
	File           string    `json:"file,omitempty" jsonschema:"name of the file, without its folder"`
	Bytes          int64     `json:"bytes,omitempty" jsonschema:"size of the file; absent for a remote reader, whom it would tell how long private names are"`
	State          string    `json:"state" jsonschema:"pending, processing, ready or failed"`
	Reason         string    `json:"reason,omitempty" jsonschema:"why it failed"`
	Pages          int       `json:"pages,omitempty" jsonschema:"how many pages the file has; absent where the format has none"`
	Passages       int       `json:"passages" jsonschema:"how many passages it was cut into"`
	Private        bool      `json:"private" jsonschema:"whether it is kept from remote models"`
	ConversationID string    `json:"conversationId,omitempty" jsonschema:"the conversation that alone sees it; absent when it is published"`
	CreatedAt      time.Time `json:"createdAt" jsonschema:"when it was added"`
	UpdatedAt      time.Time `json:"updatedAt" jsonschema:"time of the last change"`
}

// Passage is a piece of a book that is found and cited.
type Passage struct {
	ID      string   `json:"id" jsonschema:"id of the passage"`
	BookID  string   `json:"bookId" jsonschema:"the book that it is from"`
	Book    string   `json:"book" jsonschema:"title of the book"`
	Section []string `json:"section" jsonschema:"the headings above it, outermost first"`
	Page    int      `json:"page,omitempty" jsonschema:"the page that it begins on, from 1; absent where the format has none"`
	Last    int      `json:"lastPage,omitempty" jsonschema:"the page that it ends on, if that is another"`
	Row     int      `json:"row,omitempty" jsonschema:"the first row of a table in it, from 1"`
	Offset  int      `json:"offset,omitempty" jsonschema:"where it begins in the text of the book, in characters; absent at its beginning, and for a remote reader"`
	Text    string   `json:"text" jsonschema:"what it says"`
	Cite    string   `json:"cite" jsonschema:"how to cite it: [Book, section, p. N]"`
}
