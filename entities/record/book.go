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
	TextlessPages  string    `json:"textlessPages,omitempty" jsonschema:"pages that have no text, such as 3–9, 12: pictures, whose text needs to be recognised first"`
	Passages       int       `json:"passages" jsonschema:"how many passages it was cut into"`
	Private        bool      `json:"private" jsonschema:"whether it is kept from remote models"`
	ConversationID string    `json:"conversationId,omitempty" jsonschema:"the conversation that alone sees it; absent when it is published"`
	Vault          string    `json:"vault,omitempty" jsonschema:"the vault whose attachment it is: it changes with that file alone; absent for one that was added"`
	Path           string    `json:"path,omitempty" jsonschema:"path of the attachment in its vault"`
	CreatedAt      time.Time `json:"createdAt" jsonschema:"when it was added"`
	UpdatedAt      time.Time `json:"updatedAt" jsonschema:"time of the last change"`
}

// Passage is a piece of a book that is found and cited.
type Passage struct {
	ID        string   `json:"id" jsonschema:"id of the passage"`
	BookID    string   `json:"bookId" jsonschema:"the book that it is from"`
	Book      string   `json:"book" jsonschema:"title of the book"`
	Section   []string `json:"section" jsonschema:"the headings above it, outermost first"`
	Page      int      `json:"page,omitempty" jsonschema:"the page that it begins on, from 1; absent where the format has none"`
	Label     string   `json:"pageLabel,omitempty" jsonschema:"what is printed on that page, where it is another than its number"`
	Last      int      `json:"lastPage,omitempty" jsonschema:"the page that it ends on, if that is another"`
	LastLabel string   `json:"lastPageLabel,omitempty" jsonschema:"what is printed on that page, where it is another than its number"`
	Row       int      `json:"row,omitempty" jsonschema:"the first row of a table in it, from 1"`
	Offset    int      `json:"offset,omitempty" jsonschema:"where it begins in the text of the book, in characters; absent at its beginning, and for a remote reader"`
	Text      string   `json:"text" jsonschema:"what it says"`
	Cite      string   `json:"cite" jsonschema:"how to cite it: [Book, section, p. N], or p. 85 (90 of 120) where another number is printed on the page"`
}

// BooksAdd are the parameters of books.add.
type BooksAdd struct {
	ID             string `json:"id,omitempty" jsonschema:"id of the book; a new one when absent"`
	Path           string `json:"path,omitempty" jsonschema:"absolute path of a file on the machine of the daemon"`
	Content        string `json:"content,omitempty" jsonschema:"instead of path: the bytes of the file in base64, with mimeType or name; at most 1 MiB"`
	Text           string `json:"text,omitempty" jsonschema:"instead of path: what the file says, for md, txt, html and csv"`
	MimeType       string `json:"mimeType,omitempty" jsonschema:"content type of the file, or the name of its format; told from its name and its first bytes when absent"`
	Name           string `json:"name,omitempty" jsonschema:"name of the file; the last part of path when absent"`
	Title          string `json:"title,omitempty" jsonschema:"what the book is called; what the file says when absent, else its name"`
	Author         string `json:"author,omitempty" jsonschema:"who wrote it; what the file says when absent"`
	Private        bool   `json:"private,omitempty" jsonschema:"keep the book from remote models"`
	ConversationID string `json:"conversationId,omitempty" jsonschema:"show the book to this conversation alone, until books.publish; it is private while the conversation is"`
}

// BookAdded is the result of books.add.
type BookAdded struct {
	Book      *Book `json:"book" jsonschema:"the book, ready"`
	Duplicate bool  `json:"duplicate" jsonschema:"whether a book of the same bytes was there already, which is this one"`
}

// BookSection is a part of a book under one heading.
type BookSection struct {
	Path     []string `json:"path" jsonschema:"the headings above it and its own, outermost first; empty for what stands before all headings"`
	Page     int      `json:"page,omitempty" jsonschema:"the page that it begins on; absent where the format has none"`
	Passages int      `json:"passages" jsonschema:"how many passages it has, without those of sections below it"`
}

// BookFull is a book with its sections or its passages.
type BookFull struct {
	Book       *Book         `json:"book" jsonschema:"the book"`
	Sections   []BookSection `json:"sections,omitempty" jsonschema:"its sections in order, where no section was asked for"`
	Passages   []*Passage    `json:"passages,omitempty" jsonschema:"what was read, in order. A passage of a longer text begins with the last sentence of the one before"`
	NextCursor string        `json:"nextCursor,omitempty" jsonschema:"cursor of the next page of passages; absent on the last"`
}

// BookList is the result of books.list.
type BookList struct {
	Books      []*Book `json:"books" jsonschema:"the books, the latest first"`
	NextCursor string  `json:"nextCursor,omitempty" jsonschema:"cursor of the next page; absent on the last"`
}

// BookHit is a passage that was found.
type BookHit struct {
	Position int      `json:"position" jsonschema:"its place, from 1"`
	Passage  *Passage `json:"passage" jsonschema:"the passage, whole, and how to cite it"`
	Score    float64  `json:"score" jsonschema:"how well it answers, 0 to 1, in hundredths"`
	Ranges   [][2]int `json:"ranges" jsonschema:"matches in its text: UTF-16, half-open"`
}

// BookRef names a book.
type BookRef struct {
	ID string `json:"id" jsonschema:"the book"`
}
