package vet

import (
	"bytes"
	"slices"
	"strings"

	"github.com/slipway-dev/slipway/internal/report"
)

// argumentFix replaces one of the values, divided by semicolons, of a marker's argument. There is none if the line of
// the marker has it in another form.
func (v *vetting) argumentFix(at report.Position, argument, old, replacement string) report.Fix {
	line := v.line(at)
	begin := strings.Index(line, argument+"=")
	if begin < 0 {
		return report.Fix{}
	}
	begin += len(argument + "=")
	values, _, _ := strings.Cut(line[begin:], ",")
	for value := range strings.SplitSeq(values, ";") {
		if strings.Trim(value, " \"\r") == old {
			column := begin + strings.Index(value, old) + 1
			return report.Fix{Line: at.Line, Column: column, EndColumn: column + len(old), Replaces: old, Replacement: replacement}
		}
		begin += len(value) + len(";")
	}
	return report.Fix{}
}

// line is the text of a line of a file that was read, or "".
func (v *vetting) line(at report.Position) string {
	i := slices.IndexFunc(v.files, func(f file) bool { return f.name == at.File })
	if i < 0 || at.Line < 1 {
		return ""
	}
	lines := bytes.SplitN(v.files[i].text, []byte("\n"), at.Line+1)
	if len(lines) < at.Line {
		return ""
	}
	return string(lines[at.Line-1])
}
