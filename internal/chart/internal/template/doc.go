// Package template writes trees as templates of Helm: YAML with actions in it.
//
//	text := template.Document(object, when, marks)
//
// What is literal in a tree renders to itself whatever it holds: text that Helm would take
// for an action is escaped, and strings are written such that neither the actions beside them nor
// Helm, which trims what it renders, change them. Parts of literal strings that are [Marks]
// become actions: they stand for what is known only when the chart is installed.
package template
