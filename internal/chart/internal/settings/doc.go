// Package settings decides what the user of a chart can set, and puts it into the chart's objects.
//
//	values := settings.Take(m, "my-operator")
//
// Take changes the documents of a model: what was built becomes the default in the returned values, and an action or
// expression replaces it. Text that depends on a feature or on names of the release stays in the documents, since
// values are no templates.
package settings
