package client_test

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"html"
	"io"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

// neovim is a Neovim that a test sees and types into as a terminal does: it is the user interface of
// `nvim --embed`, over MessagePack-RPC. It keeps the screen that Neovim draws.
type neovim struct {
	t    *testing.T
	in   io.WriteCloser
	done chan struct{} // closed when nothing more is read

	mu      sync.Mutex
	drawn   *sync.Cond // of mu: a whole screen was drawn, an answer came, or the end
	ended   bool
	calls   int
	answers map[int][2]any // the error and the result of each call
	grid    [][]cell
	cursor  [2]int
	looks   map[int]map[string]any // attributes of highlights
	colours [2]int                 // default foreground and background
}

type cell struct {
	text string
	look int
}

const (
	screenRows    = 30
	screenColumns = 100
	screenWait    = time.Minute
)

// startNeovim runs a command line that ends in --embed and attaches to it.
func startNeovim(t *testing.T, cmd *exec.Cmd) *neovim {
	t.Helper()
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd.Stderr = os.Stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	n := &neovim{t: t, in: in, done: make(chan struct{}), answers: map[int][2]any{}, looks: map[int]map[string]any{}}
	n.drawn = sync.NewCond(&n.mu)
	go n.read(out)
	t.Cleanup(func() {
		n.send(0, "nvim_command", "qall!")
		_ = in.Close()
		<-n.done
		_ = cmd.Wait()
	})
	n.call("nvim_ui_attach", screenColumns, screenRows, map[string]any{"ext_linegrid": true, "rgb": true})
	return n
}

// keys types, as in "i[[Kick<C-x><C-o>".
func (n *neovim) keys(keys string) {
	n.t.Helper()
	n.call("nvim_input", keys)
}

// lua runs Lua in the editor and returns its result.
func (n *neovim) lua(code string) any {
	n.t.Helper()
	return n.call("nvim_exec_lua", code, []any{})
}

// sees waits until the screen shows all texts, and returns it.
func (n *neovim) sees(texts ...string) string {
	n.t.Helper()
	return n.waits(fmt.Sprintf("the screen does not show %q", texts), func(screen string) bool {
		for _, text := range texts {
			if !strings.Contains(screen, text) {
				return false
			}
		}
		return true
	})
}

// waits waits until the screen is as it should be, and returns it.
func (n *neovim) waits(otherwise string, is func(screen string) bool) string {
	n.t.Helper()
	late := time.AfterFunc(screenWait, n.drawn.Broadcast)
	defer late.Stop()
	end := time.Now().Add(screenWait)
	n.mu.Lock()
	defer n.mu.Unlock()
	for !is(n.screen()) {
		if n.ended || !time.Now().Before(end) {
			n.t.Fatalf("%s:\n%s", otherwise, n.screen())
		}
		n.drawn.Wait()
	}
	return n.screen()
}

// screen is the text of the screen. mu must be held.
func (n *neovim) screen() string {
	var b strings.Builder
	for _, row := range n.grid {
		var line strings.Builder
		for _, c := range row {
			line.WriteString(c.text)
		}
		b.WriteString(strings.TrimRight(line.String(), " ") + "\n")
	}
	return b.String()
}

// record keeps the screen, see keepScreen.
func (n *neovim) record(name string) {
	n.t.Helper()
	n.mu.Lock()
	text, page := n.screen(), n.page()
	n.mu.Unlock()
	keepScreen(n.t, name, text, page)
}

// keepScreen writes what is on a screen into the folder $CTXD_SCREENS, if there is one: as text, as a page, and as a picture of
// that where chromium is installed.
func keepScreen(t *testing.T, name, text, page string) {
	t.Helper()
	dir := os.Getenv("CTXD_SCREENS")
	if dir == "" {
		return
	}
	at := filepath.Join(dir, strings.NewReplacer(" ", "-", "$", "", ",", "").Replace(name))
	writeFile(t, at+".txt", text)
	writeFile(t, at+".html", page)
	chromium, err := exec.LookPath("chromium")
	if err != nil {
		return
	}
	out, err := exec.CommandContext(t.Context(), chromium, "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars",
		"--window-size=1020,600", "--screenshot="+at+".png", at+".html").CombinedOutput()
	if err != nil {
		t.Errorf("chromium draws nothing: %v\n%s", err, out)
	}
}

func (n *neovim) page() string {
	var b strings.Builder
	fmt.Fprintf(&b, "<!doctype html><meta charset=utf-8><style>body{margin:8px;background:#%06x}"+
		"pre{font:15px/1.25 monospace;color:#%06x;margin:0}</style><pre>", n.colours[1], n.colours[0])
	for y, row := range n.grid {
		for x, c := range row {
			look := n.looks[c.look]
			fg, bg := n.colours[0], n.colours[1]
			if v, ok := look["foreground"].(int); ok {
				fg = v
			}
			if v, ok := look["background"].(int); ok {
				bg = v
			}
			if look["reverse"] == true != (n.cursor == [2]int{y, x}) {
				fg, bg = bg, fg
			}
			weight := ""
			if look["bold"] == true {
				weight = ";font-weight:bold"
			}
			fmt.Fprintf(&b, `<span style="color:#%06x;background:#%06x%s">%s</span>`, fg, bg, weight, html.EscapeString(c.text))
		}
		b.WriteString("\n")
	}
	return b.String() + "</pre>\n"
}

// call calls a function of Neovim's API and returns its result.
func (n *neovim) call(method string, args ...any) any {
	n.t.Helper()
	n.mu.Lock()
	n.calls++
	id := n.calls
	n.mu.Unlock()
	n.send(id, method, args...)
	late := time.AfterFunc(screenWait, n.drawn.Broadcast)
	defer late.Stop()
	end := time.Now().Add(screenWait)
	n.mu.Lock()
	defer n.mu.Unlock()
	for {
		if answer, ok := n.answers[id]; ok {
			delete(n.answers, id)
			if answer[0] != nil {
				n.t.Fatalf("%s: %v", method, answer[0])
			}
			return answer[1]
		}
		if n.ended || !time.Now().Before(end) {
			n.t.Fatalf("Neovim does not answer to %s:\n%s", method, n.screen())
		}
		n.drawn.Wait()
	}
}

// send writes a call, or a notification if the id is 0.
func (n *neovim) send(id int, method string, args ...any) {
	message := []any{0, id, method, args}
	if id == 0 {
		message = []any{2, method, args}
	}
	_, _ = n.in.Write(pack(nil, message))
}

func (n *neovim) read(out io.Reader) {
	defer close(n.done)
	r := bufio.NewReader(out)
	for {
		message, err := unpack(r)
		n.mu.Lock()
		n.ended = err != nil
		if m, ok := message.([]any); ok && err == nil {
			n.take(m)
		}
		n.drawn.Broadcast()
		n.mu.Unlock()
		if err != nil {
			return
		}
	}
}

func (n *neovim) take(m []any) {
	switch {
	case len(m) == 4 && m[0] == 1:
		n.answers[m[1].(int)] = [2]any{m[2], m[3]}
	case len(m) == 3 && m[0] == 2 && m[1] == "redraw":
		for _, update := range m[2].([]any) {
			u := update.([]any)
			for _, args := range u[1:] {
				n.draw(u[0].(string), args.([]any))
			}
		}
	}
}

// draw does what an event of Neovim's user interface says; :help ui-linegrid describes them.
func (n *neovim) draw(event string, a []any) {
	number := func(i int) int { v, _ := a[i].(int); return v }
	switch event {
	case "grid_resize":
		n.grid = make([][]cell, number(2))
		for i := range n.grid {
			n.grid[i] = blank(number(1))
		}
	case "grid_clear":
		for i := range n.grid {
			n.grid[i] = blank(len(n.grid[i]))
		}
	case "grid_cursor_goto":
		n.cursor = [2]int{number(1), number(2)}
	case "default_colors_set":
		n.colours = [2]int{number(0), number(1)}
	case "hl_attr_define":
		n.looks[number(0)], _ = a[1].(map[string]any)
	case "grid_line":
		row, x, look := n.grid[number(1)], number(2), 0
		for _, one := range a[3].([]any) {
			c := one.([]any)
			times := 1
			if len(c) > 1 {
				look = c[1].(int)
			}
			if len(c) > 2 {
				times = c[2].(int)
			}
			for range times {
				row[x] = cell{c[0].(string), look}
				x++
			}
		}
	case "grid_scroll":
		top, bottom, left, right, rows := number(1), number(2), number(3), number(4), number(5)
		move := func(y int) {
			if from := y + rows; from >= top && from < bottom {
				copy(n.grid[y][left:right], n.grid[from][left:right])
			}
		}
		if rows > 0 {
			for y := top; y < bottom; y++ {
				move(y)
			}
		} else {
			for y := bottom - 1; y >= top; y-- {
				move(y)
			}
		}
	}
}

func blank(columns int) []cell {
	row := make([]cell, columns)
	for i := range row {
		row[i].text = " "
	}
	return row
}

// pack appends a value in MessagePack.
func pack(b []byte, v any) []byte {
	switch v := v.(type) {
	case nil:
		return append(b, 0xc0)
	case bool:
		if v {
			return append(b, 0xc3)
		}
		return append(b, 0xc2)
	case int:
		return binary.BigEndian.AppendUint64(append(b, 0xd3), uint64(v))
	case string:
		b = binary.BigEndian.AppendUint32(append(b, 0xdb), uint32(len(v)))
		return append(b, v...)
	case []any:
		b = binary.BigEndian.AppendUint32(append(b, 0xdd), uint32(len(v)))
		for _, e := range v {
			b = pack(b, e)
		}
		return b
	case map[string]any:
		b = binary.BigEndian.AppendUint32(append(b, 0xdf), uint32(len(v)))
		for k, e := range v {
			b = pack(pack(b, k), e)
		}
		return b
	}
	panic(fmt.Sprintf("there is no form for %T", v))
}

var errUnknownByte = errors.New("no byte of MessagePack")

// unpack reads a value in MessagePack. Numbers are ints, keys of maps strings, and Neovim's handles nil.
func unpack(r *bufio.Reader) (any, error) {
	c, err := r.ReadByte()
	if err != nil {
		return nil, err
	}
	switch {
	case c < 0x80:
		return int(c), nil
	case c < 0x90:
		return unpackMap(r, int(c&0x0f))
	case c < 0xa0:
		return unpackList(r, int(c&0x0f))
	case c < 0xc0:
		return unpackText(r, int(c&0x1f))
	case c >= 0xe0:
		return int(int8(c)), nil
	}
	switch c {
	case 0xc0:
		return nil, nil //nolint:nilnil // the value is nil
	case 0xc2, 0xc3:
		return c == 0xc3, nil
	case 0xca:
		v, err := unpackNumber(r, 4)
		return float64(math.Float32frombits(uint32(v))), err
	case 0xcb:
		v, err := unpackNumber(r, 8)
		return math.Float64frombits(v), err
	case 0xcc, 0xcd, 0xce, 0xcf:
		v, err := unpackNumber(r, 1<<(c-0xcc))
		return int(v), err
	case 0xd0, 0xd1, 0xd2, 0xd3:
		size := 1 << (c - 0xd0)
		v, err := unpackNumber(r, size)
		shift := 64 - 8*size
		return int(int64(v<<shift) >> shift), err
	case 0xd4, 0xd5, 0xd6, 0xd7, 0xd8:
		_, err := r.Discard(1 + 1<<(c-0xd4))
		return nil, err
	}
	return unpackLong(r, c)
}

// unpackLong reads a value whose length follows its first byte.
func unpackLong(r *bufio.Reader, c byte) (any, error) {
	sizes := map[byte]int{
		0xc4: 1, 0xc5: 2, 0xc6: 4, 0xc7: 1, 0xc8: 2, 0xc9: 4,
		0xd9: 1, 0xda: 2, 0xdb: 4, 0xdc: 2, 0xdd: 4, 0xde: 2, 0xdf: 4,
	}
	size, ok := sizes[c]
	if !ok {
		return nil, fmt.Errorf("%w: %#x", errUnknownByte, c)
	}
	v, err := unpackNumber(r, size)
	if err != nil {
		return nil, err
	}
	n := int(v)
	switch {
	case c <= 0xc6 || c >= 0xd9 && c <= 0xdb:
		return unpackText(r, n)
	case c <= 0xc9:
		_, err := r.Discard(1 + n)
		return nil, err
	case c <= 0xdd:
		return unpackList(r, n)
	default:
		return unpackMap(r, n)
	}
}

func unpackNumber(r *bufio.Reader, size int) (uint64, error) {
	var b [8]byte
	_, err := io.ReadFull(r, b[8-size:])
	return binary.BigEndian.Uint64(b[:]), err
}

func unpackText(r *bufio.Reader, n int) (string, error) {
	b := make([]byte, n)
	_, err := io.ReadFull(r, b)
	return string(b), err
}

func unpackList(r *bufio.Reader, n int) ([]any, error) {
	list := make([]any, n)
	for i := range list {
		var err error
		if list[i], err = unpack(r); err != nil {
			return nil, err
		}
	}
	return list, nil
}

func unpackMap(r *bufio.Reader, n int) (map[string]any, error) {
	m := make(map[string]any, n)
	for range n {
		k, err := unpack(r)
		if err != nil {
			return nil, err
		}
		v, err := unpack(r)
		if err != nil {
			return nil, err
		}
		m[fmt.Sprint(k)] = v
	}
	return m, nil
}
