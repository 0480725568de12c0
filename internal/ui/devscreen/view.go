package devscreen

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"
	xansi "github.com/charmbracelet/x/ansi"

	"github.com/slipway-dev/slipway/internal/report"
	"github.com/slipway-dev/slipway/internal/ui"
	"github.com/slipway-dev/slipway/internal/ui/ansi"
)

// size is that of the terminal.
type size struct{ width, height int }

// lowHeight is the least height of a terminal on which each part has a row.
const lowHeight = 12

// block is the largest number of rows that the block may have.
func (s size) block() int {
	switch {
	case s.height < 4:
		return 1
	case s.height < 6:
		return 2
	case s.height < lowHeight:
		return 3
	}
	return s.height - 3
}

// columns is the width of the log. The last column stays empty: after a character there, terminals disagree about
// where the cursor is.
func (s size) columns() int { return max(1, s.width-1) }

// View is the block.
func (m *model) View() tea.View {
	rows := m.rows()
	m.tallest = max(m.tallest, len(rows))
	return tea.NewView(strings.Join(rows, "\n"))
}

// rows are those of the block, each of which fits the width.
func (m *model) rows() []string {
	var rows []string
	block := m.size.block()
	footer := m.footer()
	if m.size.height < lowHeight {
		rows = m.lowRows()
	} else {
		for _, p := range inOrder(m.status.parts) {
			rows = append(rows, m.part(p))
		}
		if m.status.passing != "" {
			rows = append(rows, m.paint(ansi.Faint, m.cut("  "+oneLine(m.status.passing))))
		}
	}
	if block == 1 && len(rows) > 0 && !m.quitting && !m.typing {
		footer = nil
	}
	if len(footer) > block {
		footer = footer[len(footer)-block:]
	}
	if len(rows)+len(footer) > block {
		rows = rows[:max(0, block-len(footer))]
	}
	return append(rows, footer...)
}

// lowRows are the parts on a low terminal: the one that matters most and, if there is room, all in a row above it.
func (m *model) lowRows() []string {
	var all []string
	var first *report.Part
	for _, p := range inOrder(m.status.parts) {
		all = append(all, m.mark(p)+" "+oneLine(string(p.Name)))
		if first == nil || grave(p) > grave(*first) {
			first = &p
		}
	}
	if first == nil {
		return nil
	}
	rows := []string{m.cut(strings.Join(all, " ")), m.part(*first)}
	return rows[max(0, len(rows)+1-max(2, m.size.block())):]
}

// grave orders states by how much they matter to their reader.
func grave(p report.Part) int {
	return map[report.PartState]int{report.Failed: 3, report.Working: 2, report.Ready: 1}[p.State]
}

// inOrder sorts parts by the order in which a save goes through them; others come after those.
func inOrder(parts []report.Part) (sorted []report.Part) {
	known := []report.PartName{report.ClusterPart, report.GeneratePart, report.InstallPart, report.BuildPart, report.ManagerPart, report.WebhooksPart, report.TestsPart}
	place := func(p report.Part) int {
		for i, name := range known {
			if name == p.Name {
				return i
			}
		}
		return len(known)
	}
	for i := range len(known) + 1 {
		for _, p := range parts {
			if place(p) == i {
				sorted = append(sorted, p)
			}
		}
	}
	return sorted
}

// part is the row of a part.
func (m *model) part(p report.Part) string {
	text := oneLine(p.Text)
	if text == "" {
		text = string(p.State)
	}
	end := m.details(p)
	name := fmt.Sprintf("%-9s", oneLine(string(p.Name)))
	room := m.size.width - xansi.StringWidth("● "+name+" "+end)
	text = xansi.Truncate(text, max(room, 0), "…")
	return m.cut(m.mark(p) + " " + name + " " + text + m.paint(ansi.Faint, end))
}

// details are which save a state follows from, and how long it took or takes.
func (m *model) details(p report.Part) string {
	var known []string
	if p.Save > 0 {
		known = append(known, "save "+strconv.Itoa(p.Save))
	}
	if p.State == report.Working {
		if d := m.working(p); d >= time.Second {
			known = append(known, ui.Duration(d.Truncate(time.Second)))
		}
	} else if p.Elapsed > 0 {
		known = append(known, ui.Duration(p.Elapsed))
	}
	if len(known) == 0 {
		return ""
	}
	return " (" + strings.Join(known, ", ") + ")"
}

// working is how long a part has been working.
func (m *model) working(p report.Part) time.Duration { return m.now().Sub(m.began[p.Name]) }

// moving are the marks of a part that works, one after the other.
const moving = "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏"

// mark shows a state, also without colours.
func (m *model) mark(p report.Part) string {
	switch p.State {
	case report.Working:
		marks := []rune(moving)
		return m.paint(ansi.Cyan, string(marks[int(m.working(p)/beat)%len(marks)]))
	case report.Ready:
		return m.paint(ansi.Green, "✓")
	case report.Failed:
		return m.paint(ansi.Red, "✗")
	default:
		return m.paint(ansi.Faint, "·")
	}
}

// footer is the last row, or several for help.
func (m *model) footer() []string {
	switch {
	case m.quitting:
		return []string{m.cut("ending; press Ctrl-C to end at once")}
	case m.typing:
		return []string{m.cut("filter: " + m.typed + "▏ " + m.paint(ansi.Faint, "level, loggers, objects; Enter applies, Esc leaves"))}
	case m.help && m.size.height >= lowHeight:
		var rows []string
		for _, k := range m.keys {
			rows = append(rows, m.cut(m.paint(ansi.Bold, k.press)+"  "+k.help))
		}
		return rows
	}
	return []string{m.keyRow()}
}

// keyRow shows the keys, of which the last two always fit.
func (m *model) keyRow() string {
	last := len(m.keys) - 2
	end := m.keyLabels(m.keys[last:])
	if f := m.filter.String(); f != "" {
		end += m.paint(ansi.Yellow, fmt.Sprintf("  [%s: %d hidden]", f, m.status.hidden))
	}
	n := last
	for n > 0 && xansi.StringWidth(m.keyLabels(m.keys[:n])+"  "+end) > m.size.width {
		n--
	}
	if n > 0 {
		end = m.keyLabels(m.keys[:n]) + "  " + end
	}
	return m.cut(end)
}

func (m *model) keyLabels(keys []key) string {
	var labels []string
	for _, k := range keys {
		labels = append(labels, m.paint(ansi.Bold, k.press)+" "+m.paint(ansi.Faint, k.label))
	}
	return strings.Join(labels, "  ")
}

func (m *model) paint(c ansi.Color, text string) string { return ansi.Paint(m.color, c, text) }

// cut cuts a row to the width of the terminal.
func (m *model) cut(row string) string { return xansi.Truncate(row, m.size.width, "…") }

// oneLine is the first line of a text that may be a stranger's.
func oneLine(text string) string {
	line, _, _ := strings.Cut(strings.TrimLeft(ansi.Plain(text), "\n"), "\n")
	return strings.ReplaceAll(line, "\t", " ")
}
