package prompt

// memoryChoice is a section of memories that has its room and is not yet written.
type memoryChoice struct {
	section string
	limit   int
	items   []memoryItem
	chars   int // with what is around the items
}

// memoryItem is a memory as it will stand in the prompt.
type memoryItem struct {
	memory *Memory
	head   string // before it: what begins a part
	text   []byte
	chars  int // of both
}

// rendered returns memories as they may stand in the prompt. They are written into memory that is used again: to
// allocate each of them takes longer than to write it (BenchmarkPERF19).
func (b *builder) rendered(list []Memory) []memoryItem {
	first := len(b.items)
	for i := range list {
		from := len(b.all)
		b.all = b.style.memory(b.all, &list[i], b.secret)
		text := b.all[from:len(b.all):len(b.all)] // which stays as it is when b.all grows
		b.items = append(b.items, memoryItem{memory: &list[i], text: text, chars: Chars(text)})
	}
	return b.items[first:len(b.items):len(b.items)] // and so do these
}

// reserve chooses what the user referred to and keeps room for it in the total,
// since it is written after sections that get their room later. While the items are
// more than limit characters, the last of the largest group goes. O(n²) in the worst
// case, n items.
func (b *builder) reserve(limit int, list []Memory) {
	items := b.rendered(list)
	sum := b.style.frames[SectionReferenced].chars
	for i := range items {
		sum += items[i].chars
	}
	room := b.room(limit)
	sizes := make(map[string]int) // of the groups
	if sum > room {
		for _, item := range items {
			sizes[item.memory.Group] += item.chars
		}
	}
	for sum > room && len(items) > 0 {
		last := len(items) - 1
		for i := last - 1; i >= 0; i-- {
			if sizes[items[i].memory.Group] > sizes[items[last].memory.Group] {
				last = i
			}
		}
		out := items[last]
		sum -= out.chars
		sizes[out.memory.Group] -= out.chars
		b.drop(out.memory.Reported(), out.memory.ID, out.memory.Title, OverBudget)
		items = append(items[:last], items[last+1:]...)
	}
	b.choose(memoryChoice{SectionReferenced, limit, items, sum})
}

// recalled chooses what is remembered: in the order of the list, whole items that still fit. What
// begins a part of the section belongs to its first item. O(n) in their size.
func (b *builder) recalled(limit int, list []Memory) {
	room, sum := b.room(limit), b.style.frames[SectionMemory].chars
	all := b.rendered(list)
	items, part := all[:0], Part(-1)
	for _, item := range all {
		m := item.memory
		if m.Part != part {
			item.head = b.style.part(m.Part)
			item.chars += Chars(item.head)
		}
		if sum+item.chars > room {
			b.drop(m.Reported(), m.ID, m.Title, OverBudget)
			continue
		}
		part = m.Part
		sum += item.chars
		items = append(items, item)
	}
	b.choose(memoryChoice{SectionMemory, limit, items, sum})
}

// choose keeps room for a section that has items.
func (b *builder) choose(c memoryChoice) {
	if len(c.items) == 0 {
		return
	}
	c.chars++ // the empty line before the section
	b.memories = append(b.memories, c)
	b.reserved += c.chars
}

// writeMemories writes what was chosen, in the room that was kept for it.
func (b *builder) writeMemories() {
	for _, c := range b.memories {
		b.reserved -= c.chars
		s := b.open(c.section, c.limit)
		s.items = make([]Item, 0, len(c.items))
		for i := range c.items {
			from := &c.items[i]
			item := s.begin(from.memory.Reported(), from.chars)
			item.ID, item.Title, item.Reason = from.memory.ID, from.memory.Title, from.memory.Reason
			item.Distilled = from.memory.Distilled
			b.write(from.head)
			b.buf = append(b.buf, from.text...)
			s.beyond = s.beyond || len(from.head)+len(from.text) > from.chars
		}
		b.close(s)
	}
}
