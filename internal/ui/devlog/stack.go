package devlog

import (
	"strconv"
	"strings"

	"github.com/slipway-dev/slipway/internal/ui/ansi"
)

// maxFrames is the number of frames that are shown of a stack trace.
const maxFrames = 5

// frame is a place in a stack trace.
type frame struct{ function, place string }

// trace is a stack trace that comes line by line.
type trace struct {
	open     bool
	function string // whose place is the next line
	shown    int
	left     int
}

// takes reports whether a line belongs to the trace: a function's name, or, after it, the place of its call.
func (t *trace) takes(line string) bool {
	if t.function != "" {
		return strings.HasPrefix(line, "\t")
	}
	return strings.Contains(line, ".") && !strings.ContainsAny(line, " \t:") && strings.LastIndexByte(line, '.') > strings.LastIndexByte(line, '/')
}

// next takes a line, and returns the frame that is to be shown once it is complete.
func (t *trace) next(p *Printer, line string) (shown []frame, left int) {
	if t.function == "" {
		t.function = line
		return nil, 0
	}
	f := frame{t.function, strings.TrimSpace(line)}
	t.function = ""
	if t.shown == maxFrames || !p.own(f) {
		t.left++
		return nil, 0
	}
	t.shown++
	return []frame{f}, 0
}

// leftOut is how many frames of a trace that is over were not shown, on a line before what follows.
func (p *Printer) leftOut() string {
	if p.trace.left == 0 {
		return ""
	}
	return p.frames(nil, p.trace.left) + "\n"
}

// stack splits a stack trace into the frames that are shown, and the number of others.
func (p *Printer) stack(text string) (shown []frame, left int) {
	lines := strings.Split(strings.TrimRight(text, "\n"), "\n")
	for len(lines) > 0 {
		f := frame{function: lines[0]}
		lines = lines[1:]
		if len(lines) > 0 && strings.HasPrefix(lines[0], "\t") {
			f.place = strings.TrimSpace(lines[0])
			lines = lines[1:]
		}
		switch {
		case len(shown) < maxFrames && p.own(f):
			shown = append(shown, f)
		case f.place != "":
			left++
		}
	}
	return shown, left
}

// own reports whether a frame is of the user's module: by the name of its function, which the compiler writes, or, in a
// package main, by its file.
func (p *Printer) own(f frame) bool {
	if p.Module == "" {
		return true
	}
	rest, found := strings.CutPrefix(f.function, p.Module)
	if found && rest != "" && strings.ContainsRune("./", rune(rest[0])) {
		return true
	}
	return strings.HasPrefix(f.function, "main.") && p.short(f.place) != f.place
}

// short is a place without the module's folder, or its path in programs that were built with -trimpath.
func (p *Printer) short(place string) string {
	for _, prefix := range []string{p.Dir, p.Module} {
		if rest, found := strings.CutPrefix(place, prefix+"/"); found && prefix != "" {
			return rest
		}
	}
	return place
}

// frames writes frames, and how many others there are.
func (p *Printer) frames(shown []frame, left int) string {
	var lines []string
	for _, f := range shown {
		function := f.function[strings.LastIndexByte(f.function, '/')+1:]
		place, _, _ := strings.Cut(f.place, " +0x")
		lines = append(lines, "    "+ansi.Plain(p.short(place))+"  "+p.paint(ansi.Faint, ansi.Plain(function)))
	}
	switch {
	case left == 1:
		lines = append(lines, p.paint(ansi.Faint, "    … 1 frame left out"))
	case left > 1:
		lines = append(lines, p.paint(ansi.Faint, "    … "+strconv.Itoa(left)+" frames left out"))
	}
	return strings.Join(lines, "\n")
}
