package markdown

// pile is a list that grows without being copied: a hostile text can have as many marks
// as bytes, and lists that double would hold them three times. The zero value is empty.
type pile[T any] struct {
	parts [][]T // all full but the last
	n     int
}

const (
	pileShift = 12
	pilePart  = 1 << pileShift // items of a part
)

func (p *pile[T]) add(v T) {
	last := p.n >> pileShift
	if last == len(p.parts) {
		var part []T
		if last > 0 {
			part = make([]T, 0, pilePart)
		}
		p.parts = append(p.parts, part)
	}
	p.parts[last] = append(p.parts[last], v)
	p.n++
}

// pop takes off the last item, which there must be. Its memory is kept.
func (p *pile[T]) pop() T {
	p.n--
	part := &p.parts[p.n>>pileShift]
	v := (*part)[len(*part)-1]
	*part = (*part)[:len(*part)-1]
	return v
}

func (p *pile[T]) len() int { return p.n }

func (p *pile[T]) at(i int) *T { return &p.parts[i>>pileShift][i&(pilePart-1)] }

// reset empties the pile and keeps a small part of its memory.
func (p *pile[T]) reset() {
	p.n = 0
	if len(p.parts) == 0 {
		return
	}
	clear(p.parts[1:])
	p.parts = p.parts[:1]
	p.parts[0] = emptied(p.parts[0])
}

// clone returns a copy in memory of just its size.
func (p *pile[T]) clone() pile[T] {
	c := pile[T]{n: p.n}
	for _, part := range p.parts {
		c.parts = append(c.parts, exact(part))
	}
	return c
}

// take returns the pile itself when it is large, else a copy, so that the memory of
// small ones is used again.
func (p *pile[T]) take() pile[T] {
	if len(p.parts) <= 1 {
		return p.clone()
	}
	taken := *p
	*p = pile[T]{}
	return taken
}
