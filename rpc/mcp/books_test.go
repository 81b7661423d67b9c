package mcp_test

import (
	"strings"
	"testing"

	"github.com/ctxd/ctxd/rpc/mcp"
)

// TestMEM69_BooksAreFoundReadAndCited: a question finds a passage with how it is cited, and a book is read by section.
func TestMEM69_BooksAreFoundReadAndCited(t *testing.T) {
	d := start(t)
	d.seed()
	d.put("books.add", `{"id":"plain","title":"Beekeeping in towns","mimeType":"txt","text":"Hives stand on roofs."}`)
	h := d.open(mcp.Options{})
	const cited = "[Beekeeping, Winter > Feeding] [id:bees.000000]\n   > A colony needs fifteen kilograms of stores."
	h.contains("found", h.call("search_books", `{"query":"How many kilograms of stores does a colony need?"}`), "Confidence: ", "Cite what you take", "\n1. "+cited)
	if text := h.call("search_books", `{"query":"bees hive scales roofs","limit":1}`); strings.Contains(text, "\n2. ") {
		t.Error(text)
	}
	h.contains("none", h.call("search_books", `{"query":"xyzzy"}`), "No passage was found.\n")
	h.contains("sections", h.call("read_book", `{"id":"bees"}`), "Beekeeping by A. Root (md) [id:bees]\n- Winter > Feeding, 1 passage\n- Spring, 1 passage\n")
	for _, id := range []string{"bees", "[id:bees]", "bees.000000", "beekeeping", "[id:bees.000001]"} {
		text := h.call("read_book", `{"id":"`+id+`","section":"Feeding"}`)
		h.contains(id, text, cited)
		if strings.Contains(text, "Bees fly") {
			t.Errorf("%s: another section: %s", id, text)
		}
	}
	h.contains("whole", h.call("read_book", `{"id":"bees","text":true}`), cited, "Bees fly.")
	h.contains("without headings", h.call("read_book", `{"id":"in towns"}`), "- (before all headings: text reads it), 1 passage\n")
	for args, want := range map[string]string{
		`{"id":" "}`:                             "book is needed",
		`{"id":"nothing"}`:                       "no book has this id or title",
		`{"id":"No such book"}`:                  "no book has this id or title",
		`{"id":"keeping"}`:                       "2 books are called so",
		`{"id":"bees","section":"None"}`:         "no such section\nTry: read_book without section",
		`{"id":"bees","cursor":"x"}`:             "cursor",
		`{"id":"beekeeping","section":"Autumn"}`: "no such section",
	} {
		h.contains(args, h.fails("read_book", args), want)
	}
	h.contains("empty", h.fails("search_books", `{"query":" "}`), "query")
	d.put("books.delete", `{"id":"bees"}`)
	h.contains("removed", h.call("search_books", `{"query":"kilograms of stores"}`), "No passage was found.")
}
