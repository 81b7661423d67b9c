// Package recall finds what is remembered: memories and messages that answer a question, best first, with how sure it
// is that they do; and, before anybody asks, what is near to what was just said.
//
// # Parts
//
//   - recall.go, stages.go: the Ranker, and the table of its stages
//   - factors.go, order.go, outcome.go, pairs.go, things.go, words.go, rerank.go: the stages
//   - filter.go, match.go, apart.go: what may be found, and by what hits are compared
//   - confidence.go, finish.go: how sure the answer is, and the result
//   - books.go: passages of books among the hits
//   - passive*.go: what the last turns of a conversation bring to mind
//
// A Ranker asks the index of each kind, brings their scores to one scale, and applies the stages of the table Stages in
// its order. The table is all there is to know of a stage: the switches of a call and what is told of a search follow
// from it. README.md says what each stage is worth, and how to add one.
//
// # Scores
//
// The relevance of a hit is the score of the hybrid search (package search), which is in proportion to its best hit,
// times how much of the question that has: the larger of the share of the information of its words (BM25 over the sum
// of their idf) and of its cosine between that of unrelated texts and that of nearly the same words. So the hits of
// several indexes are on one scale, and keep the order that their index gave them. Support of the neighbours is added,
// to 1 at most; the product of the factors, held between 0.5 and 1.6, is applied; and the whole is divided by 1.6. What
// clients see is rounded to hundredths.
//
// # Privacy
//
// A search is one of a View. The indexes find nothing that its reader may not see, and the texts that are answered are
// asked of the Store again, as the reader sees them now. A reranker on another machine gets the public form of each
// text, and nothing of what is private.
//
// # Who may call it
//
// Handlers of rpc, package gather and the tools of chat, with the View of the reader. Package chat tells Passive of
// turns.
//
// # Lifetime and concurrency
//
// All methods may be called concurrently. A Ranker keeps nothing of a search. Passive keeps ids in memory, and ends
// with the store.
//
// Wall: subject: how memories and messages that answer a question are ranked.
package recall
