package words

import "unsafe"

// weigh returns how many postings the index has, and about how many bytes of
// memory it takes. The caller has the lock. O(postings / 128 + terms).
func (x *inverted) weigh() (postings int, bytes int64) {
	const wordBytes, listBytes = int64(unsafe.Sizeof(word{})), int64(unsafe.Sizeof(postingList{}))
	bytes = int64(cap(x.text)+cap(x.lengths)) + 4*int64(cap(x.slots)+cap(x.sorted)) + wordBytes*int64(cap(x.words)) +
		listBytes*int64(cap(x.lists))
	for i := range x.lists {
		l := &x.lists[i]
		postings += l.Docs()
		bytes += l.Spare()
	}
	return postings, bytes
}
