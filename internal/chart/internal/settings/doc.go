// Package settings decides what the user of a chart sets, and puts it into the chart's objects.
//
//	values := settings.Take(m, "my-operator")
//
// Take changes the documents of a model: what was built moves into the returned values as their default, and an action
// or expression takes its place. Text that depends on a feature or on names of the release stays where it is: values
// are no templates.
package settings
