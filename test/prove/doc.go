// Package prove tests `slipway prove` with operators that make mistakes: it must find each, and has nothing to say
// about the operators that make none.
package prove
