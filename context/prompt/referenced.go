package prompt

// referencedItem is a memory as it will stand in the prompt.
type referencedItem struct {
	memory *Memory
	text   string
	chars  int
}

// reserve chooses what the user referred to and keeps room for it in the total,
// since it is written after sections that get their room later. While the items are
// more than limit characters, the last of the largest group goes. O(n²) in the worst
// case, n items.
func (b *builder) reserve(limit int, list []Memory) {
	if len(list) == 0 {
		return
	}
	items := make([]referencedItem, len(list))
	sizes := make(map[string]int)
	sum := b.style.frames[SectionReferenced].chars
	for i := range list {
		text := b.style.memory(&list[i], b.secret)
		items[i] = referencedItem{&list[i], text, Chars(text)}
		sizes[list[i].Group] += items[i].chars
		sum += items[i].chars
	}
	for room := b.room(limit); sum > room && len(items) > 0; {
		last := len(items) - 1
		for i := last - 1; i >= 0; i-- {
			if sizes[items[i].memory.Group] > sizes[items[last].memory.Group] {
				last = i
			}
		}
		out := items[last]
		sum -= out.chars
		sizes[out.memory.Group] -= out.chars
		b.drop(KindMemory, out.memory.ID, out.memory.Title, OverBudget)
		items = append(items[:last], items[last+1:]...)
	}
	if len(items) == 0 {
		return
	}
	b.referenced = items
	b.reserved = sum + 1 // the empty line before the section
}

// writeReferenced writes what reserve chose, in the room that it kept.
func (b *builder) writeReferenced(limit int) {
	b.reserved = 0
	if len(b.referenced) == 0 {
		return
	}
	s := b.open(SectionReferenced, limit)
	for _, item := range b.referenced {
		m := item.memory
		s.add(Item{Kind: KindMemory, ID: m.ID, Title: m.Title, Reason: m.Reason}, item.chars, item.text)
	}
	b.close(s)
}
