package cli

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/slipway-dev/slipway/internal/generate"
)

// The levels of detail, which are how often -h or -w stand on the command line: 1 is a
// line for each marker, 2 a line for each argument, 3 the argument's doc below it.
const (
	summaryLevel = 1
	fullLevel    = 3
)

// writeMarkers writes help on markers. Levels above that of JSON say nothing, as with controller-gen.
func writeMarkers(w io.Writer, level int, groups []generate.MarkerGroup) error {
	var b bytes.Buffer
	for _, g := range groups {
		if g.Category == "" || level > fullLevel {
			continue
		}
		b.WriteString("\n" + g.Category + "\n\n")
		if level == summaryLevel {
			writeSummaries(&b, g.Markers)
			continue
		}
		for _, m := range g.Markers {
			writeMarker(&b, m, level == fullLevel)
		}
	}
	_, err := w.Write(b.Bytes())
	return err
}

// writeSummaries writes a table with a line for each marker.
func writeSummaries(b *bytes.Buffer, markers []generate.MarkerDoc) {
	table := tabwriter.NewWriter(b, 0, 0, 2, ' ', 0)
	for _, m := range markers {
		fmt.Fprintf(table, "+%s%s\t%s\t%s\n", m.Name, syntax(m), m.Target, summary(m))
	}
	_ = table.Flush() // a buffer takes everything
}

// syntax is what may follow a marker's name.
func syntax(m generate.MarkerDoc) string {
	var b strings.Builder
	separator := ":"
	for _, f := range m.Fields {
		if f.Name == "" {
			separator = ""
		}
		b.WriteString(argument(f, separator))
		separator = ","
	}
	return b.String()
}

// argument is how an argument is written; brackets mean that it may be left out.
func argument(f generate.FieldDoc, separator string) string {
	text := separator + f.Name + "=<" + f.String() + ">"
	if f.Optional {
		return "[" + text + "]"
	}
	return text
}

// summary is what a marker does, after what to write in its place.
func summary(m generate.MarkerDoc) string {
	if m.InsteadOf != nil && *m.InsteadOf != "" {
		return "(use " + *m.InsteadOf + ") " + m.Summary
	}
	return m.Summary
}

// writeMarker writes a marker with a line, or two, for each argument.
func writeMarker(b *bytes.Buffer, m generate.MarkerDoc, full bool) {
	fmt.Fprintf(b, "+%s %s\n", m.Name, m.Target)
	if len(m.Fields) == 1 && m.Fields[0].Name == "" {
		fmt.Fprintf(b, "\t%s  %s\n\n", argument(m.Fields[0], ""), summary(m))
		return
	}
	fmt.Fprintf(b, "\t%s\n", summary(m))
	table := tabwriter.NewWriter(b, 0, 0, 2, ' ', tabwriter.TabIndent)
	for _, f := range m.Fields {
		if full {
			fmt.Fprintf(b, "\t%s\n\t\t%s\n", argument(f, ""), f.Summary)
		} else {
			fmt.Fprintf(table, "\t%s\t%s\n", argument(f, ""), f.Summary)
		}
	}
	_ = table.Flush() // a buffer takes everything
	b.WriteString("\n")
}
