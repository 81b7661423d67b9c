package words

import (
	"encoding/binary"
	"math"
	"math/bits"
)

// A packed block holds the distances between its documents, and then the
// frequencies less 1, each list in numbers of so many bits. Numbers follow each other
// without gaps, low bits first; a list ends with a byte. What a number has beyond its
// bits follows behind both: a byte of its place, 128 more for a distance, and a varint
// (Zukowski and others, Super-Scalar RAM-CPU Cache Compression, 2006). Before all
// stand a byte each of the bits of both and of how many such follow. To read it takes
// few decisions, which cost more than the reading where a processor guesses them wrong.

// minPacked is how many postings make it worth to pack a block.
const minPacked = 32

const packedHeader = 3

// width returns the number of bits with which numbers take the least room.
func width(numbers []uint32) int {
	var lengths [33]int
	for _, v := range numbers {
		lengths[bits.Len32(v)]++
	}
	best, least, beyond := 0, math.MaxInt, 0
	for w := 32; w >= 0; w-- {
		if size := len(numbers)*w + 16*beyond; size < least {
			best, least = w, size
		}
		beyond += lengths[w]
	}
	return best
}

// pack appends a packed block.
func pack(data []byte, docs, tfs []uint32) []byte {
	var space [2][postingBlockSize]uint32
	gaps, more := space[0][:len(docs)-1], space[1][:len(tfs)]
	for i := range gaps {
		gaps[i] = docs[i+1] - docs[i]
	}
	for i, tf := range tfs {
		more[i] = tf - 1
	}
	from := len(data)
	data = append(data, byte(width(gaps)), byte(width(more)), 0)
	var scratch [6 * 2 * postingBlockSize]byte
	beyond := scratch[:0]
	for which, list := range [2][]uint32{gaps, more} {
		width := int(data[from+which])
		var w bitWriter
		for i, v := range list {
			data = w.append(data, v&(1<<width-1), width)
			if high := v >> width; high > 0 {
				beyond = binary.AppendUvarint(append(beyond, byte(i|(1-which)<<7)), uint64(high))
				data[from+2]++
			}
		}
		data = w.end(data)
	}
	return append(data, beyond...)
}

// bitWriter holds the bits that are not a byte yet.
type bitWriter struct {
	bits uint64
	n    int
}

func (w *bitWriter) append(data []byte, v uint32, width int) []byte {
	w.bits |= uint64(v) << w.n
	for w.n += width; w.n >= 8; w.n -= 8 {
		data = append(data, byte(w.bits))
		w.bits >>= 8
	}
	return data
}

func (w *bitWriter) end(data []byte) []byte {
	if w.n > 0 {
		data = append(data, byte(w.bits))
	}
	*w = bitWriter{}
	return data
}

// unpack reads a packed block of n postings of which the first is of a document.
// What is behind them in docs and tfs is spoiled. It panics when data is too short.
func unpack(data []byte, n int, first uint32, docs, tfs *[postingBlockSize + 1]uint32) {
	gaps, most, beyond := uint(data[0]), uint(data[1]), int(data[2])
	data = data[packedHeader:]
	size := ((n-1)*int(gaps) + 7) / 8
	unpackBits(data, n-1, gaps, 0, (*[postingBlockSize]uint32)(docs[1:]))
	data = data[size:]
	unpackBits(data, n, most, 1, (*[postingBlockSize]uint32)(tfs[:]))
	data = data[(n*int(most)+7)/8:]
	for range beyond {
		high, size := binary.Uvarint(data[1:])
		if at := data[0] & 0x7f; data[0] >= 0x80 {
			docs[at+1] += uint32(high) << gaps
		} else {
			tfs[at] += uint32(high) << most
		}
		data = data[1+size:]
	}
	doc := first
	docs[0] = first
	for i := 1; i < n; i++ {
		doc += docs[i]
		docs[i] = doc
	}
}

// unpackBits reads n numbers of a width and adds something to each. It reads eight
// at a time: they begin with a byte. A case for each width makes constants of its
// shifts and masks, the frequent widths being the small ones.
func unpackBits(data []byte, n int, width uint, add uint32, out *[postingBlockSize]uint32) {
	if width > 32 {
		panic("search: a number of too many bits") // it is of a damaged file
	}
	var tail [80]byte // what is left when what is read at once reaches past the end
	inTail := false
	for i := 0; i < n; i += 8 {
		if len(data) < 40 && !inTail {
			copy(tail[:], data)
			data, inTail = tail[:], true
		}
		word := (*[40]byte)(data)
		data = data[width:]
		low := binary.LittleEndian.Uint64(word[:])
		a, b := (*[4]uint32)(out[i:]), (*[4]uint32)(out[i+4:])
		switch width { // a shift by what is known is a third of one by what is not
		case 0:
			unpackFour(0, 0, add, a)
			unpackFour(0, 0, add, b)
		case 1:
			unpackFour(low, 1, add, a)
			unpackFour(low>>4, 1, add, b)
		case 2:
			unpackFour(low, 2, add, a)
			unpackFour(low>>8, 2, add, b)
		case 3:
			unpackFour(low, 3, add, a)
			unpackFour(low>>12, 3, add, b)
		case 4:
			unpackFour(low, 4, add, a)
			unpackFour(low>>16, 4, add, b)
		case 5:
			unpackFour(low, 5, add, a)
			unpackFour(low>>20, 5, add, b)
		case 6:
			unpackFour(low, 6, add, a)
			unpackFour(low>>24, 6, add, b)
		case 7:
			unpackFour(low, 7, add, a)
			unpackFour(low>>28, 7, add, b)
		case 8:
			unpackFour(low, 8, add, a)
			unpackFour(low>>32, 8, add, b)
		case 9:
			unpackFour(low, 9, add, a)
			unpackFour(binary.LittleEndian.Uint64(word[4:])>>4, 9, add, b)
		case 10:
			unpackFour(low, 10, add, a)
			unpackFour(binary.LittleEndian.Uint64(word[5:]), 10, add, b)
		case 11:
			unpackFour(low, 11, add, a)
			unpackFour(binary.LittleEndian.Uint64(word[5:])>>4, 11, add, b)
		case 12:
			unpackFour(low, 12, add, a)
			unpackFour(binary.LittleEndian.Uint64(word[6:]), 12, add, b)
		case 13:
			unpackFour(low, 13, add, a)
			unpackFour(binary.LittleEndian.Uint64(word[6:])>>4, 13, add, b)
		case 14:
			unpackFour(low, 14, add, a)
			unpackFour(binary.LittleEndian.Uint64(word[7:]), 14, add, b)
		case 15:
			unpackFour(low, 15, add, a)
			unpackFour(binary.LittleEndian.Uint64(word[7:])>>4, 15, add, b)
		case 16:
			unpackFour(low, 16, add, a)
			unpackFour(binary.LittleEndian.Uint64(word[8:]), 16, add, b)
		default:
			for j := range uint(8) {
				bit := j * width
				out[i+int(j)] = uint32(binary.LittleEndian.Uint64(word[bit>>3:])>>(bit&7)&(1<<width-1)) + add
			}
		}
	}
}

// unpackFour reads four numbers from a word.
func unpackFour(x uint64, width uint, add uint32, out *[4]uint32) {
	mask := uint64(1)<<width - 1
	out[0] = uint32(x&mask) + add
	out[1] = uint32(x>>width&mask) + add
	out[2] = uint32(x>>(2*width)&mask) + add
	out[3] = uint32(x>>(3*width)&mask) + add
}
