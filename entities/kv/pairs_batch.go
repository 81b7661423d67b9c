package kv

import "github.com/ctxd/ctxd/entities/kv/disk"

// Writes go into the memory store so many at a time, while the next are gathered.
const (
	loadBatch    = 1024
	batchesAhead = 4
)

// putBatch hands writes on in lists, while the next are gathered. All are handed on after Close,
// which has to be called also after an error.
type putBatch struct {
	Insert func([]pendingPut) error // is called by one goroutine at a time, and not after an error

	list []pendingPut
	todo chan []pendingPut // to the goroutine that inserts, nil while there is none
	done chan error        // what that has ended with
}

// pendingPut is a write on its way.
type pendingPut struct {
	disk.Pair
	Deleted bool
}

// Write copies key and value, each into a string of its own: a part of something
// larger would keep all of it in memory, and a journal is full of values that
// others replace.
func (b *putBatch) Write(key, raw []byte, deleted bool) error {
	b.list = append(b.list, pendingPut{disk.Pair{Key: string(key), Value: string(raw)}, deleted})
	if len(b.list) < loadBatch {
		return nil
	}
	if b.todo == nil {
		b.todo, b.done = make(chan []pendingPut, batchesAhead), make(chan error, 1)
		go b.run(b.todo, b.done)
	}
	b.todo <- b.list
	b.list = make([]pendingPut, 0, loadBatch)
	return nil
}

// run hands lists on until there are no more, and sends the first error.
func (b *putBatch) run(todo <-chan []pendingPut, done chan<- error) {
	var err error
	for list := range todo {
		if err == nil {
			err = b.Insert(list)
		}
	}
	done <- err
}

// Close hands on what is left, and returns the first error.
func (b *putBatch) Close() error {
	todo, done := b.todo, b.done
	if todo == nil {
		if len(b.list) == 0 {
			return nil
		}
		todo, done = make(chan []pendingPut, 1), make(chan error, 1)
	}
	todo <- b.list
	close(todo)
	if b.todo == nil {
		b.run(todo, done)
	}
	b.list, b.todo, b.done = nil, nil, nil
	return <-done
}
