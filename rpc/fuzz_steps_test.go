package rpc_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ctxd/ctxd/fixtures/campaign"
	"github.com/ctxd/ctxd/rpc/protocol"
)

// The kinds of steps. A call is more frequent than the rest together.
const (
	stepCall   = 0
	stepSameID = 17 + iota
	stepBatch
	stepNotification
	stepCancel
	stepNoRequest
	stepNoJSON
	stepBreakOff
	stepEnd
	stepTooMuch
	stepAwait
	stepKinds = 32
)

// step does what one step of the input says.
func (a *attack) step(c *choices) {
	kind, number, opened, how := c.of(stepKinds), c.of(len(a.conns)), c.of(8), c.of(8)
	p := a.conns[number]
	if p != nil && p.spent() {
		p.await()
		p.close()
		p = nil
	}
	if p == nil {
		p = a.connect(number, opened)
		a.conns[number] = p
		if p == nil {
			return
		}
	}
	switch kind {
	default:
		text, o := p.request(c, p.id(c))
		p.send(text, how, o)
	case stepSameID:
		id := p.id(c)
		for range 2 + c.of(4) {
			text, o := p.request(c, id)
			p.send(text, how, o)
		}
		if c.of(2) == 1 {
			p.send(p.cancel(id), how)
		}
	case stepBatch:
		p.batch(c, how)
	case stepNotification:
		text, o := p.request(c, "")
		p.send(text, how, o.ifInvalid()...)
	case stepCancel:
		p.send(p.cancel(p.earlierID(c)), how)
	case stepNoRequest:
		p.noRequest(c, how)
	case stepNoJSON:
		text, _ := p.request(c, `"cut"`)
		text = pick(c, []string{
			text[:1+c.of(256)%(len(text)-1)], "{", `{"a":}`, "NaN", `{"jsonrpc":"2.0","id":1,"method":"admin.health","params":{"a":NaN}}`, "\xff{}", "{\"a\":\"\x01\"}",
			"[1,2", "}", `{"a":01}`, `{"a":"\x"}`, "\xef\xbb\xbf{}", `{} {}`, `{"a":"` + "\xed\xa0\x80" + `"}`,
		})
		p.send(text, how, p.rejected(text, protocol.CodeParse))
	case stepBreakOff:
		p.breakOff(c)
	case stepEnd:
		p.endIt(c, how)
	case stepTooMuch:
		p.tooMuch(c, how)
	case stepAwait:
		p.await()
	}
}

// rejected is what something that is no request is owed.
func (p *assailant) rejected(text string, codes ...int) *owed {
	return &owed{id: "null", codes: codes, sent: text}
}

// ifInvalid is what a notification is owed: nothing, unless it is none.
func (o *owed) ifInvalid() []*owed {
	if o.codes == nil {
		return nil
	}
	o.id = "null"
	return []*owed{o}
}

// id makes the id of a request as it will be sent.
func (p *assailant) id(c *choices) string {
	p.serial++
	id := fmt.Sprint(p.serial)
	switch c.of(10) {
	case 5:
		id = pick(c, []string{`"same"`, "7", `"\u0073ame"`})
	case 6:
		id = hostile(c)
	case 7:
		id = pick(c, []string{"0.5", "-1", "1e400", "-0", "18446744073709551616", `""`, "1.0", strings.Repeat("9", 200)})
	case 8:
		id = "null"
	case 9:
		id = fmt.Sprintf(`"text %d"`, p.serial)
	}
	p.sent = append(p.sent, id)
	return id
}

// earlierID chooses the id of a request that was sent on the connection, the last one
// first.
func (p *assailant) earlierID(c *choices) string {
	back := c.of(8)
	if c.rarely(8) || back >= len(p.sent) {
		return pick(c, []string{"99999", `"none"`, "null", `"same"`})
	}
	return p.sent[len(p.sent)-1-back]
}

func (p *assailant) cancel(id string) string {
	p.mu.Lock()
	p.withdrawn[idValue(id)] = true
	p.mu.Unlock()
	return fmt.Sprintf(`{"jsonrpc":"2.0","method":"$/cancelRequest","params":{"id":%s}}`, id)
}

// request makes a call of a method; with the id "" a notification, which is owed nothing.
func (p *assailant) request(c *choices, id string) (text string, o *owed) {
	m := p.a.doc.methods[preferred(c.of(1<<16), p.a.doc.names)]
	wrong := []int{0, 0, 0, 0, 0, 1, 1, 2}[c.of(8)]
	v := p.a.gen.params(c, m)
	for range wrong {
		v.mutate(c)
	}
	o = &owed{id: id, method: m}
	if v.scalar == "" && !v.list && c.rarely(6) {
		p.serial++
		o.token = pick(c, []string{fmt.Sprintf(`"token %d"`, p.serial), fmt.Sprint(p.serial), fmt.Sprintf(`-%d.5`, p.serial)})
		v.set(protocol.ProgressToken, scalar(o.token))
	}
	if takesFile(m.Name) {
		p.a.gen.contain(&v)
	}
	keepPrivate(m.Name, &v)
	params := string(v.append(nil))
	if s := v.scalar; s != "" && s[0] != '[' && s[0] != '{' && s != "null" {
		o.method, o.codes = nil, []int{protocol.CodeInvalidRequest}
	}
	p.expect(m.Name, &v)
	o.remote = strings.Contains(params, `"audience":"remote"`) && m.Name != "context.assemble"
	var b strings.Builder
	b.WriteString(`{"jsonrpc":"2.0"`)
	if id != "" {
		b.WriteString(`,"id":` + id)
	}
	order := c.of(8)
	name := quoted(m.Name)
	if order == 7 {
		name = strings.Replace(name, ".", `\u002e`, 1)
	}
	if order == 6 {
		b.WriteString(`,"params":` + params + `,"unknown":[{}],"method":` + name + "}")
	} else {
		b.WriteString(`,"method":` + name + ` , "params" :` + params + "}")
	}
	o.sent = b.String()
	return o.sent, o
}

// expect notes what a call of a method means for its connection.
func (p *assailant) expect(method string, params *value) {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch method {
	case "initialize":
		p.introduced = true
		for _, m := range params.named("processId") {
			if m.scalar != "null" && m.scalar != fmt.Sprint(ownProcess) && !p.initialized {
				p.mayEnd = "its process may not be there"
			}
		}
	case "events.subscribe":
		p.topics = true
	}
}

// batch sends requests as a list.
func (p *assailant) batch(c *choices, how int) {
	n := []int{1, 2, 3, 5, 8, attackLimits.Batch + 1}[c.of(6)]
	p.serial++
	of := &owedBatch{number: p.serial}
	var parts []string
	var owes []*owed
	for i := range n {
		id := fmt.Sprintf(`"batch %d.%d"`, of.number, i)
		kind := c.of(6)
		if i == 0 {
			kind = 0
		}
		switch kind {
		case 3:
			text, o := p.request(c, "")
			parts, owes = append(parts, text), append(owes, o.ifInvalid()...)
		case 4:
			parts = append(parts, p.cancel(fmt.Sprintf(`"batch %d.%d"`, of.number, c.of(n))))
		case 5:
			text := pick(c, []string{"1", "{}", "[]", `{"jsonrpc":"2.0","id":{},"method":"x"}`})
			parts, owes = append(parts, text), append(owes, p.rejected(text, protocol.CodeInvalidRequest))
		default:
			text, o := p.request(c, id)
			parts, owes = append(parts, text), append(owes, o)
			p.sent = append(p.sent, id)
		}
	}
	text := "[" + strings.Join(parts, " , ") + "]"
	switch {
	case c.rarely(12):
		p.send("[ ]", how, p.rejected("[]", protocol.CodeInvalidRequest))
	case n > attackLimits.Batch:
		p.send(text, how, p.rejected(text, protocol.CodeLimit))
	default:
		of.size = len(owes)
		for _, o := range owes {
			o.batch = of
		}
		p.send(text, how, owes...)
	}
}

// noRequest sends JSON that is no request, or one of no method.
func (p *assailant) noRequest(c *choices, how int) {
	id := p.id(c)
	invalid := []int{protocol.CodeInvalidRequest}
	kinds := []struct {
		text  string // %s is the id
		codes []int  // nil: it is not answered
		null  bool   // the answer has no id
	}{
		{`{"jsonrpc":"2.0","id":%s,"method":"no.method"}`, []int{protocol.CodeMethodNotFound}, false},
		{`{"jsonrpc":"2.0","id":%s,"method":` + hostile(c) + `,"params":{}}`, []int{protocol.CodeMethodNotFound}, false},
		{`{"id":%s,"method":"admin.health"}`, invalid, false},
		{`{"jsonrpc":"1.0","id":%s,"method":"admin.health"}`, invalid, false},
		{`{"jsonrpc":2.0,"id":%s,"method":"admin.health"}`, invalid, false},
		{`{"jsonrpc":"2.0","id":%s}`, invalid, false},
		{`{"jsonrpc":"2.0","id":%s,"method":5}`, invalid, false},
		{`{"jsonrpc":"2.0","id":%s,"method":null,"params":{}}`, invalid, false},
		{`{"jsonrpc":"2.0","id":%s,"method":"admin.health","params":"x"}`, invalid, false},
		{`{"jsonrpc":"2.0","id":%s,"method":"admin.health","method":"admin.stop"}`, invalid, false},
		{`{"jsonrpc":"2.0","id":{},"method":"admin.health"}`, invalid, true},
		{`{"jsonrpc":"2.0","id":true,"method":"admin.health","params":{}}`, invalid, true},
		{`{}`, invalid, true},
		{pick(c, []string{"5", `"x"`, "null", "true", "-0.1"}), invalid, true},
		{`{"jsonrpc":"2.0","id":%s,"result":{}}`, nil, false},
		{`{"jsonrpc":"2.0","id":%s,"error":{"code":1}}`, nil, false},
		{`{"jsonrpc":"2.0","method":` + hostile(c) + `}`, nil, false},
		{`{"jsonrpc":"2.0","method":"$/cancelRequest","params":` + pick(c, []string{`[]`, `{}`, `{"id":{}}`, `{"id":"\ud800"}`, `null`, `{"ID":1}`}) + `}`, nil, false},
		{`{"jsonrpc":"2.0","method":"initialized","params":{}}`, nil, false},
	}
	k := pick(c, kinds)
	text := strings.Replace(k.text, `"id":%s`, `"id":`+id, 1)
	if k.codes == nil {
		p.send(text, how)
		return
	}
	if k.null {
		id = "null"
	}
	p.send(text, how, &owed{id: id, codes: k.codes, sent: text})
}

// breakOff ends the connection in the middle of a message, or behind one.
func (p *assailant) breakOff(c *choices) {
	text, o := p.request(c, p.id(c))
	frame := p.frame(text, 0)
	cut := len(frame)
	if c.of(2) == 0 {
		cut = 1 + c.of(256)%(len(frame)-1)
	}
	p.mu.Lock()
	p.mayEnd = "it is being broken off"
	p.mu.Unlock()
	p.owe(o)
	p.write(frame[:cut])
	p.close()
}

// endIt ends the connection in a way that leaves what was asked to be answered.
func (p *assailant) endIt(c *choices, how int) {
	switch c.of(6) {
	case 0:
		p.end()
		_ = p.nc.CloseWrite()
		return
	case 1:
		p.end()
		p.send(`{"jsonrpc":"2.0","method":"exit"}`, how)
	case 2:
		p.send(`{"jsonrpc":"2.0","id":"bye","method":"shutdown"}`, how, &owed{id: `"bye"`, method: p.a.doc.methods["shutdown"], sent: "shutdown"})
		p.end()
		p.send(`{"jsonrpc":"2.0","method":"exit"}`, how)
	case 3:
		if p.lines { // the rest of a line counts as one
			text := `{"jsonrpc":"2.0","id":"half","method":`
			p.owe(p.rejected(text, protocol.CodeParse))
			p.write(text)
		} else {
			p.write("Content-Length: 1000\r\n\r\n{")
		}
		p.end()
		_ = p.nc.CloseWrite()
		return
	case 4:
		if p.lines {
			return
		}
		text := pick(c, []string{"no header\r\n\r\n", "Content-Length: x\r\n\r\n", "Content-Length: -5\r\n\r\n", "\x00\r\n", "X: " + strings.Repeat("y", 2<<10) + "\r\n", "X: y\r\n\r\n"})
		p.owe(p.rejected(text, protocol.CodeParse))
		p.end()
		p.write(text)
	case 5:
		depth := attackLimits.Nesting + 1 + c.of(2)*5000
		text := strings.Repeat("[", depth) + strings.Repeat("]", depth)
		p.owe(p.rejected(text[:20], protocol.CodeLimit))
		p.end()
		p.send(text, how)
	}
}

// tooMuch sends a message over a limit, or a large one.
func (p *assailant) tooMuch(c *choices, how int) {
	p.serial++
	id := fmt.Sprint(p.serial) // of a message that is too large only a short one is found
	piece := pick(c, pieces)
	over := c.of(4)
	size := []int{attackLimits.MessageBytes, attackLimits.MessageBytes, attackLimits.TextBytes, 200 << 10}[over]
	long := strings.Repeat(piece, size/len(piece)+1)
	text := fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"method":"notes.put","params":{"id":"new1","body":"%s"}}`, id, long)
	o := &owed{id: id, method: p.a.doc.methods["notes.put"], sent: text[:min(len(text), 100)]}
	switch over {
	case 0:
		o.codes = []int{protocol.CodeLimit}
	case 1:
		text = strings.Replace(text, `"id":`+id+",", "", 1)
		p.send(text, how)
		return
	case 2:
		text = strings.Replace(text, `"body"`, `"title"`, 1)
	}
	p.send(text, how, o)
}

// plain makes a step that calls a method on a connection, with the simplest choices but
// for the last ones.
func (f *battlefield) plain(method string, conn, kind int, choices ...byte) []byte {
	selector := 0
	for preferred(selector, f.doc.names) != method {
		selector++
	}
	step := make([]byte, stepBytes)
	copy(step, []byte{stepCall, byte(conn), byte(kind), 0, 0, byte(selector >> 8), byte(selector), 0})
	copy(step[8:], choices)
	return step
}

// The first byte behind those that plain sets says how params are made: by the example
// of the document, by the schema without optional members, or with some of them.
const (
	byExample byte = iota
	byRequired
	byOptional
)

// calls are inputs that call every method, one after the other: locally by its example and
// by its schema, with another framing, and for a remote reader.
func (f *battlefield) calls() (inputs [][]byte) {
	names := slices.DeleteFunc(slices.Clone(f.doc.names), func(name string) bool { return name == "shutdown" || name == "initialize" })
	names = append(names, "shutdown") // nothing comes after it
	ofChat := func(name string) bool { return strings.HasPrefix(name, "chat.") || name == "memory.judge" }
	chats := slices.DeleteFunc(slices.Clone(names), func(name string) bool { return !ofChat(name) || name == "chat.delete" })
	chats = append(chats, "chat.delete") // what comes after it has no conversation
	names = slices.DeleteFunc(names, ofChat)
	for _, group := range slices.Concat(slices.Collect(slices.Chunk(chats, 9)), bySpace(names)) {
		if ofChat(group[0]) {
			group = append([]string{"chat.append"}, group...) // the others need a conversation
		}
		var input []byte
		for _, name := range group {
			for _, step := range [][]byte{
				f.plain(name, 0, 0, byExample), f.plain(name, 0, 0, byRequired), f.plain(name, 1, 1, byOptional, 1), f.plain(name, 2, 2, byExample),
			} {
				wait := make([]byte, stepBytes)
				wait[0], wait[1] = stepAwait, step[1]
				input = slices.Concat(input, step, wait)
			}
		}
		inputs = append(inputs, input)
	}
	return append(inputs, f.plain("initialize", 0, 7, byExample))
}

// bySpace groups methods in their order, 12 at most: those of one space stand together if there are not more of them, since
// some need what others have made.
func bySpace(names []string) (groups [][]string) {
	space := func(name string) string {
		of, _, _ := strings.Cut(name, ".")
		return of
	}
	const most = 12
	var group []string
	for len(names) > 0 {
		n := 1
		for n < len(names) && n < most && space(names[n]) == space(names[0]) {
			n++
		}
		if len(group)+n > most {
			groups, group = append(groups, group), nil
		}
		group, names = append(group, names[:n]...), names[n:]
	}
	groups = append(groups, group)
	for _, group := range groups {
		slices.SortStableFunc(group, func(a, b string) int { return deletes(a) - deletes(b) })
	}
	return groups
}

// deletes is 1 for a method behind which others may miss what it has deleted.
func deletes(name string) int {
	if strings.HasSuffix(name, ".delete") {
		return 1
	}
	return 0
}

// seeds are the inputs that fuzzing begins with: short ones, since all of them run before
// anything new is tried.
func seeds() (inputs [][]byte) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 6 {
		inputs = append(inputs, randomInput(rng, 6))
	}
	return inputs
}

// randomInput is an input of up to so many steps.
func randomInput(rng *rand.Rand, most int) []byte {
	input := make([]byte, stepBytes*(1+rng.IntN(most)))
	for i := range input {
		input[i] = byte(rng.Uint32())
	}
	return input
}

// TestREL6_TheSeedsCallEveryMethod: none of rpc.discover is left out, and each can be
// called with success.
func TestREL6_TheSeedsCallEveryMethod(t *testing.T) {
	campaign.Only(t)
	f := prepare(t)
	answered := map[string]bool{}
	for _, input := range f.calls() {
		for name := range f.run(t, input) {
			answered[name] = true
		}
	}
	// The store here is one machine's alone, and nothing may be written into its vaults.
	shared := []string{"sync.remove", "sync.leave", "sync.settle", "vault.undo"}
	for _, name := range f.doc.names {
		if !answered[name] && !slices.Contains(shared, name) {
			t.Errorf("no attack calls %s with success: what its params may be has to be added to the generator", name)
		}
	}
}

// TestCampaignREL6_Protocol attacks with inputs that are drawn by chance, a few each time
// or with CTXD_CAMPAIGN=full for an hour, the long form of FuzzREL6_Protocol: no
// instrument slows the daemon down, and a fault does not end it. An input that finds one
// is kept beside the seeds of the fuzz target.
func TestCampaignREL6_Protocol(t *testing.T) {
	campaign.Only(t)
	f := prepare(t)
	seed, until := uint64(7), time.Time{}
	if campaign.Full() {
		seed, until = rand.Uint64(), time.Now().Add(time.Hour)
	}
	rng := rand.New(rand.NewPCG(seed, 0))
	attacks, found := 0, 0
	for ; attacks < 5 || time.Now().Before(until); attacks++ {
		input := randomInput(rng, 40)
		name := fmt.Sprintf("%016x", rng.Uint64())
		if !t.Run(name, func(t *testing.T) { f.run(t, input) }) && !until.IsZero() {
			found++
			dir := filepath.Join("testdata", "fuzz", "FuzzREL6_Protocol")
			must(t, os.MkdirAll(dir, 0o700))
			must(t, os.WriteFile(filepath.Join(dir, name), fmt.Appendf(nil, "go test fuzz v1\n[]byte(%q)\n", input), 0o600))
		}
	}
	t.Logf("%d attacks, %d of them found a fault", attacks, found)
}
