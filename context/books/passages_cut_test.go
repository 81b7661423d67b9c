package books_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/ctxd/ctxd/context/books"
	"github.com/ctxd/ctxd/context/books/convert"
	"github.com/ctxd/ctxd/context/search/text"
	"github.com/ctxd/ctxd/fixtures/steps"
)

// built returns a document of blocks, as a converter makes it.
func built(t interface{ Fatal(...any) }, blocks []convert.Block) *convert.Document {
	b := convert.NewBuilder(context.Background())
	b.SetPages(1) // else they would be without
	for _, x := range blocks {
		if err := b.Add(x); err != nil {
			t.Fatal(err)
		}
	}
	return b.Document()
}

func TestMEM68_PassagesFollowHeadingsPagesAndRows(t *testing.T) {
	names := []string{"Boat", "Seats"}
	d := built(t, []convert.Block{
		{Text: "Before all headings.", Page: 1},
		{Kind: convert.HeadingBlock, Level: 1, Text: "Boats", Page: 1},
		{Text: "There are two.", Page: 1},
		{Kind: convert.RowBlock, Cells: []string{"Red", "6"}, Columns: names, Row: 2, Page: 1},
		{Kind: convert.RowBlock, Cells: []string{"Blue", "4"}, Columns: names, Row: 3, Page: 1},
		{Kind: convert.HeadingBlock, Level: 2, Text: "Empty", Page: 2},
		{Kind: convert.HeadingBlock, Level: 2, Text: "Code", Page: 2},
		{Kind: convert.CodeBlock, Text: "if x {\n\treturn\n}", Page: 2},
		{Kind: convert.HeadingBlock, Level: 1, Text: "Fees", Page: 3},
		{Text: "Twelve euro.", Page: 3},
	})
	want := []books.CutPassage{
		{Text: "Before all headings.", Page: 1, Last: 1},
		{Text: "There are two.\n\nBoat: Red; Seats: 6\nBoat: Blue; Seats: 4", Section: []string{"Boats"}, Page: 1, Last: 1, Row: 2, Offset: 29},
		{Text: "Empty", Section: []string{"Boats"}, Page: 2, Last: 2, Offset: 87},
		{Text: "if x {\n\treturn\n}", Section: []string{"Boats", "Code"}, Page: 2, Last: 2, Offset: 100},
		{Text: "Twelve euro.", Section: []string{"Fees"}, Page: 3, Last: 3, Offset: 124},
	}
	got := books.CutPassages(d)
	for i := range max(len(got), len(want)) {
		if i >= len(got) || i >= len(want) || fmt.Sprintf("%+v", got[i]) != fmt.Sprintf("%+v", want[i]) {
			t.Errorf("passages\n%+v\nwant\n%+v", got, want)
			break
		}
	}
}

func TestMEM68_ALongTextOverlapsByASentence(t *testing.T) {
	var b strings.Builder
	for i := range 100 {
		fmt.Fprintf(&b, "The hive number %d was weighed in the evening of that day. ", i)
	}
	got := books.CutPassages(built(t, []convert.Block{{Text: b.String()}}))
	if len(got) < 5 || len(got) > 12 {
		t.Fatalf("%d passages of 100 sentences", len(got))
	}
	for i := 1; i < len(got); i++ {
		before := strings.SplitAfter(got[i-1].Text, ". ")
		if last := before[len(before)-1]; !strings.HasPrefix(got[i].Text, last) {
			t.Errorf("passage %d begins %.60q, and the one before ends %q", i, got[i].Text, last)
		}
	}
}

// TestMEM68_NothingIsLost cuts any document: each passage is a piece of the text at its offset, they come in
// order, all that is said is in one of them or is a heading above one, and none is too long.
func TestMEM68_NothingIsLost(t *testing.T) {
	word := rapid.SampledFrom([]string{"bee", "hive.", "Weight!", "漢字です。", "é", "x", "word word word word", strings.Repeat("long ", 60), strings.Repeat("蜂", 300), strings.Repeat("y", 900)})
	blocks := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) convert.Block {
		said := strings.Join(rapid.SliceOfN(word, 1, 60).Draw(t, "words"), " ")
		b := convert.Block{Kind: rapid.SampledFrom([]convert.BlockKind{convert.TextBlock, convert.HeadingBlock, convert.RowBlock, convert.CodeBlock}).Draw(t, "kind")}
		switch b.Kind {
		case convert.RowBlock:
			b.Cells, b.Columns, b.Row = []string{said, "7"}, []string{"", "Name"}, rapid.IntRange(1, 9).Draw(t, "row")
		case convert.HeadingBlock:
			b.Text, b.Level = said, rapid.IntRange(1, 6).Draw(t, "level")
		case convert.CodeBlock:
			b.Text = "  " + strings.ReplaceAll(said, ". ", "\n\n\t")
		default:
			b.Text = said
		}
		return b
	}), 0, 25)
	rapid.Check(t, func(t *rapid.T) {
		list := blocks.Draw(t, "blocks")
		page := 1
		for i := range list {
			page += rapid.IntRange(0, 1).Draw(t, "turn")
			list[i].Page = page
		}
		d := built(t, list)
		whole := []rune(books.PlainText(d))
		covered := make([]bool, len(whole))
		got := books.CutPassages(d)
		at, end, last := -1, 0, 0
		above := make(map[string]bool)
		for i, p := range got {
			said := []rune(p.Text)
			if p.Offset < 0 || p.Offset+len(said) > len(whole) || string(whole[p.Offset:p.Offset+len(said)]) != p.Text {
				t.Fatalf("passage %d is not the text at %d: %q", i, p.Offset, p.Text)
			}
			if p.Offset <= at || p.Offset+len(said) <= end || p.Page < last || p.Last < p.Page {
				t.Fatalf("passage %d is out of order", i)
			}
			at, end, last = p.Offset, p.Offset+len(said), p.Page
			if n := text.CountTokens(p.Text); n > 2*books.MaxPassageTokens && len(p.Text) > books.MaxPassageCode+200 || len(said) > books.MaxPassage {
				t.Fatalf("passage %d has %d tokens, %d characters", i, n, len(said))
			}
			for n := range said {
				covered[p.Offset+n] = true
			}
			for _, h := range p.Section {
				above[h] = true
			}
		}
		var lost strings.Builder
		for i, r := range whole {
			if !covered[i] {
				lost.WriteRune(r)
			}
		}
		for line := range strings.SplitSeq(lost.String(), "\n") {
			if line = strings.TrimSpace(line); line != "" && !above[line] {
				t.Fatalf("lost %q", line)
			}
		}
		if len(d.Blocks) > 0 && len(got) == 0 {
			t.Fatal("no passage")
		}
	})
}

func TestMEM68_RowsAndCodeStayWhole(t *testing.T) {
	var blocks []convert.Block
	for i := range 200 {
		blocks = append(blocks, convert.Block{Kind: convert.RowBlock, Cells: []string{fmt.Sprint("Customer ", i), fmt.Sprint(i * 7)}, Columns: []string{"Name", "Amount"}, Row: i + 2})
	}
	source := strings.Repeat("for range 10 {\n\tfmt.Println(\"é\")\n}\n", 50)
	blocks = append(blocks, convert.Block{Kind: convert.CodeBlock, Text: source})
	next := 0
	got := books.CutPassages(built(t, blocks))
	for _, p := range got {
		if p.Row == 0 {
			continue
		}
		if p.Row != next+2 {
			t.Errorf("a passage begins with row %d, want %d", p.Row, next+2)
		}
		for line := range strings.SplitSeq(p.Text, "\n") {
			if want := fmt.Sprintf("Name: Customer %d; Amount: %d", next, next*7); line != want {
				t.Fatalf("row %q, want %q", line, want)
			}
			next++
		}
	}
	if next != 200 || !slices.ContainsFunc(got, func(p books.CutPassage) bool { return p.Text == strings.TrimSpace(source) }) {
		t.Errorf("%d rows, or the code is not whole", next)
	}
	if !utf8.ValidString(got[len(got)-1].Text) {
		t.Error("cut inside of a character")
	}
}

// TestPRIV8_NoPassageEndsWithinAReference: half of a link would not be masked.
func TestPRIV8_NoPassageEndsWithinAReference(t *testing.T) {
	var b strings.Builder
	for i := range 60 {
		fmt.Fprintf(&b, "We read it in [[Dr. Who. Part %d! Or not?]] on that day. So said @[Mr. Pink. Jr] then. ", i)
	}
	for _, kind := range []convert.BlockKind{convert.TextBlock, convert.CodeBlock} {
		said := strings.Repeat(b.String(), 3)
		for i, p := range books.CutPassages(built(t, []convert.Block{{Kind: kind, Text: said}})) {
			if strings.Count(p.Text, "[") != strings.Count(p.Text, "]") {
				t.Errorf("passage %d has half of a link: %q", i, p.Text)
			}
		}
	}
}

// TestREL14_NoPassageIsLongerThanItMayBe cuts hostile texts as blocks of each kind, and what has no end: nothing of them
// is lost, but blanks, and no passage nor heading above it has more than MaxPassage characters.
func TestREL14_NoPassageIsLongerThanItMayBe(t *testing.T) {
	texts := map[string]string{
		"a word": strings.Repeat("x", 20_000), "marks": "e" + strings.Repeat("\u0301", 20_000), "a link": "[[a|" + strings.Repeat("b", 9_000) + "]]",
		"blanks": "a" + strings.Repeat(" ", 20_000) + "b",
	}
	for name, text := range steps.Families {
		texts[name] = strings.ToValidUTF8(text(12_000), "?")
	}
	for name, said := range texts {
		for _, kind := range []convert.BlockKind{convert.TextBlock, convert.HeadingBlock, convert.RowBlock, convert.CodeBlock} {
			b := convert.Block{Kind: kind, Text: said, Level: 1}
			if kind == convert.RowBlock {
				b = convert.Block{Kind: kind, Cells: []string{said}, Columns: []string{""}, Row: 1}
			}
			d := built(t, []convert.Block{b, {Text: "The end."}})
			whole := []rune(books.PlainText(d))
			at := 0
			for i, p := range books.CutPassages(d) {
				said := []rune(p.Text)
				if len(said) > books.MaxPassage {
					t.Errorf("%s, %v: passage %d has %d characters", name, kind, i, len(said))
				}
				if lost := strings.TrimSpace(string(whole[at:max(at, p.Offset)])); lost != "" && len(p.Section) == 0 {
					t.Errorf("%s, %v: %.40q is in no passage", name, kind, lost)
				}
				at = max(at, p.Offset+len(said))
				for _, h := range p.Section {
					if n := utf8.RuneCountInString(h); n > books.MaxPassage {
						t.Errorf("%s, %v: a heading has %d characters", name, kind, n)
					}
				}
			}
			if at != len(whole) {
				t.Errorf("%s, %v: the end is missing", name, kind)
			}
		}
	}
}
