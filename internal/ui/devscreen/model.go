package devscreen

import (
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	tea "charm.land/bubbletea/v2"
	"golang.org/x/term"

	"github.com/slipway-dev/slipway/internal/report"
	"github.com/slipway-dev/slipway/internal/ui/ansi"
	"github.com/slipway-dev/slipway/internal/ui/devlog"
)

// model is the state of the block. It belongs to the program's goroutine.
type model struct {
	screen   *screen
	now      func() time.Time
	color    bool
	commands chan<- Command
	keys     []key

	size     size
	holds    int // how many there were
	hold     int // the one in force, 0 for none
	tallest  int // the largest number of the block's rows since the last hold
	status   status
	began    map[report.PartName]time.Time // when a part began to work
	ticking  bool
	quitting bool
	help     bool
	typing   bool
	typed    string
	filter   devlog.Filter
}

// Messages to the model, apart from status and those for printing.
type (
	quittingMsg  struct{} // the loop was asked to end
	continuedMsg struct{} // the process goes on after a stop that the program knows nothing about
	tickMsg      struct{} // time has passed while something works
)

func newModel(o Options, s *screen, now func() time.Time) *model {
	m := &model{screen: s, now: now, color: o.Color, commands: o.Commands, began: map[report.PartName]time.Time{}, size: size{80, 24}}
	for _, k := range allKeys {
		if k.command == "" || slices.Contains(o.Available, k.command) {
			m.keys = append(m.keys, k)
		}
	}
	m.holdBack()
	return m
}

// holdBack keeps rows from being printed until a frame is drawn.
func (m *model) holdBack() {
	m.holds++
	m.hold = m.holds
	m.tallest = len(m.rows())
}

// held is what the printing goroutine has to know.
func (m *model) held() held {
	return held{hold: m.hold, size: m.size, room: max(1, m.size.height-m.tallest)}
}

// filterMessages answers the printing goroutine, at the moment when bubbletea would print.
func filterMessages(of tea.Model, msg tea.Msg) tea.Msg {
	m := of.(*model)
	switch msg := msg.(type) {
	case rowsMsg:
		answer := m.held()
		answer.printed = m.hold == 0 && msg.size == m.size && len(msg.rows) <= answer.room
		msg.reply <- answer
		if !answer.printed {
			return nil
		}
		return tea.Println(strings.Join(msg.rows, "\n"))()
	case settledMsg:
		if msg.hold == m.hold {
			m.hold = 0
		}
		msg.reply <- m.held()
		return nil
	case tea.SuspendMsg:
		m.holdBack()
	case tea.WindowSizeMsg:
		if now := (size{msg.Width, msg.Height}); now != m.size {
			m.size = now
			m.holdBack()
		}
	}
	return msg
}

// Init has nothing to begin with.
func (m *model) Init() tea.Cmd { return nil }

// Update takes one message.
func (m *model) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	switch msg := msg.(type) {
	case status:
		m.take(msg)
		return m, m.tick()
	case tickMsg:
		m.ticking = false
		return m, m.tick()
	case quittingMsg:
		m.quitting, m.typing = true, false
	case continuedMsg:
		return m, m.comeBack()
	case tea.PasteMsg:
		if m.typing {
			m.typeText(msg.Content)
		}
	case tea.KeyPressMsg:
		return m, m.press(msg)
	}
	return m, nil
}

// takeBack is written to a terminal that something else may have used: no cursor, and pasted text in brackets.
const takeBack = "\x1b[?25l\x1b[?2004h\r"

// comeBack takes the terminal back from what has used it while the process was stopped, and draws the block below what
// that has written: the program begins at most as many rows above the cursor as the block has.
//
// The program's own ReleaseTerminal and RestoreTerminal may stop the clock of its frames for good when they follow each
// other closely (bubbletea v2.1.1, startRenderer).
func (m *model) comeBack() tea.Cmd {
	m.holdBack()
	_, _ = term.MakeRaw(int(m.screen.input.Fd())) // if it fails, no key is read, and signals still end the loop
	_, _ = m.screen.output.Write([]byte(takeBack + strings.Repeat("\n", m.tallest-1)))
	return tea.ClearScreen
}

// take takes over a new status.
func (m *model) take(s status) {
	for _, p := range s.parts {
		before := slices.IndexFunc(m.status.parts, func(q report.Part) bool { return q.Name == p.Name && q.State == p.State && q.Save == p.Save })
		if p.State == report.Working && before < 0 {
			m.began[p.Name] = m.now()
		}
	}
	m.status = s
}

// beat is the time between two redraws while something works.
const beat = 250 * time.Millisecond

// tick lets time pass while something works. When nothing does, nothing is redrawn.
func (m *model) tick() tea.Cmd {
	working := slices.ContainsFunc(m.status.parts, func(p report.Part) bool { return p.State == report.Working })
	if m.ticking || !working {
		return nil
	}
	m.ticking = true
	return tea.Tick(beat, func(time.Time) tea.Msg { return tickMsg{} })
}

// key is a key and what it does.
type key struct {
	press   string
	command Command // of the loop; empty for what the screen does itself
	label   string
	help    string
}

// The keys that the screen hears itself.
const (
	clearKey  = "c"
	filterKey = "f"
	helpKey   = "?"
	quitKey   = "q"
)

var allKeys = [...]key{
	{"r", Restart, "restart", "build and start the manager again"},
	{"s", ApplySamples, "samples", "apply the samples"},
	{"t", RunTests, "tests", "run the tests"},
	{"d", Debug, "debugger", "start the manager below Delve"},
	{"l", LogLevel, "log level", "change the manager's log level"},
	{"a", AddMarker, "add marker", "add the missing marker"},
	{"p", Pause, "pause deployed", "scale a deployed copy of the operator to zero until the end"},
	{"w", Page, "page", "show a new link to the page of all that happens"},
	{clearKey, "", "clear", "scroll the log away; it stays in the history"},
	{filterKey, "", "filter", "show lines of a level, a logger or an object only"},
	{helpKey, "", "help", "show this, or hide it"},
	{quitKey, "", "quit", "end; so does Ctrl-C, and a second Ctrl-C at once"},
}

// press hears a key.
func (m *model) press(k tea.KeyPressMsg) tea.Cmd {
	switch pressed := k.String(); {
	case pressed == "ctrl+c":
		m.screen.ask()
	case pressed == "ctrl+z":
		return m.screen.stops.suspend
	case m.typing:
		m.typeKey(pressed, k.Key().Text)
	case pressed == quitKey:
		m.screen.askOnce()
	case pressed == helpKey:
		m.help = !m.help
	case pressed == clearKey:
		m.screen.feed.note(strings.Repeat("\n", max(0, m.size.height-len(m.rows())-1)))
	case pressed == filterKey:
		m.typing, m.typed = true, m.filter.String()
	default:
		m.command(pressed)
	}
	return nil
}

// command sends the command of a key to the loop, if there is one and the loop has room for it.
func (m *model) command(pressed string) {
	i := slices.IndexFunc(m.keys, func(k key) bool { return k.press == pressed && k.command != "" })
	if i < 0 || m.quitting {
		return
	}
	select {
	case m.commands <- m.keys[i].command:
	default:
	}
}

// typeKey edits the filter.
func (m *model) typeKey(pressed, text string) {
	switch pressed {
	case "enter":
		m.typing = false
		m.filter = devlog.ParseFilter(m.typed)
		m.screen.feed.setFilter(m.filter)
	case "esc":
		m.typing = false
	case "backspace":
		_, n := utf8.DecodeLastRuneInString(m.typed)
		m.typed = m.typed[:len(m.typed)-n]
	case "ctrl+u":
		m.typed = ""
	default:
		m.typeText(text)
	}
}

// maxFilter is the number of bytes of a filter.
const maxFilter = 60

func (m *model) typeText(text string) {
	text = strings.ReplaceAll(ansi.Plain(text), "\n", " ")
	if len(m.typed)+len(text) <= maxFilter {
		m.typed += text
	}
}
