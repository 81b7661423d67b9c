package kv

import (
	"github.com/tidwall/buntdb"

	"github.com/ctxd/ctxd/entities/kv/disk"
)

// Writes go into the memory store so many at a time, while the next are gathered.
const (
	loadBatch    = 1024
	batchesAhead = 4
)

// batch puts writes into a memory store without a transaction for each. What was
// written is there after close, which has to be called also after an error.
type batch struct {
	db   *buntdb.DB
	list []put
	todo chan []put // to the goroutine that inserts, nil while there is none
	done chan error // what that has ended with
}

// put is a write on its way into the memory store.
type put struct {
	disk.Pair
	deleted bool
}

// Write copies key and value, each into a string of its own: a part of something
// larger would keep all of it in memory, and a journal is full of values that
// others replace.
func (b *batch) Write(key, raw []byte, deleted bool) error {
	b.list = append(b.list, put{disk.Pair{Key: string(key), Value: string(raw)}, deleted})
	if len(b.list) < loadBatch {
		return nil
	}
	if b.todo == nil {
		b.todo, b.done = make(chan []put, batchesAhead), make(chan error, 1)
		go b.insert(b.todo, b.done)
	}
	b.todo <- b.list
	b.list = make([]put, 0, loadBatch)
	return nil
}

// insert puts lists into the store until there are no more, and sends the first
// error.
func (b *batch) insert(todo <-chan []put, done chan<- error) {
	var err error
	for list := range todo {
		if err == nil {
			err = b.db.Update(func(tx *buntdb.Tx) error {
				for i := range list {
					if _, _, err := set(tx, list[i].Key, list[i].Value, list[i].deleted); err != nil {
						return err
					}
				}
				return nil
			})
		}
	}
	done <- err
}

func (b *batch) Close() error {
	todo, done := b.todo, b.done
	if todo == nil {
		if len(b.list) == 0 {
			return nil
		}
		todo, done = make(chan []put, 1), make(chan error, 1)
	}
	todo <- b.list
	close(todo)
	if b.todo == nil {
		b.insert(todo, done)
	}
	b.list, b.todo, b.done = nil, nil, nil
	return <-done
}
