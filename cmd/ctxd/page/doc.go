// Package page has what the pages of ctxd inspect … --html share: their style, the words of the policy by which a
// browser runs and loads nothing else, texts that are safe to show, and bars of budgets.
//
// It has functions and values only, which any goroutine may use.
package page
