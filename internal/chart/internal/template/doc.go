// Package template writes trees as Helm templates: YAML with actions.
//
//	text := template.Document(object, when, marks)
//
// Literal parts of a tree render to themselves, whatever they contain: text that Helm would read as an action is
// escaped. Strings are written so that neither adjacent actions nor Helm, which trims what it renders, change them.
// [Marks] in literal strings become actions: they stand for what is known only when the chart is installed.
package template
