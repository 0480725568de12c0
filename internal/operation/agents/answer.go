package agents

import (
	"context"
	"crypto/rand"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/slipway-dev/slipway/internal/report"
	"github.com/slipway-dev/slipway/internal/ui/ansi"
)

// An answer is what a tool returns: slipway's own words, and data.
type answer struct {
	words  string
	data   []string // lines
	failed bool
}

// The limits of answers, in bytes: of the data in one, and of what is kept of one for the tool more.
const (
	maxPart   = 16 << 10
	maxAnswer = 4 << 20
	keptParts = 8 // answers with more data than fit
)

// answers keeps the data of the last answers that were too long.
type answers struct {
	mu   sync.Mutex
	last int
	kept map[int]string
}

// keep returns the number of an answer.
func (a *answers) keep(data string) int {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.kept == nil {
		a.kept = map[int]string{}
	}
	a.last++
	a.kept[a.last] = data
	delete(a.kept, a.last-keptParts)
	return a.last
}

func (a *answers) find(number int) (data string, ok bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	data, ok = a.kept[number]
	return data, ok
}

// result is an answer in the protocol's form.
func (w *workshop) result(a answer) *mcp.CallToolResult {
	data := strings.Join(a.data, "\n")
	words := a.words
	if len(data) > maxAnswer {
		data = data[:cut(data, maxAnswer)]
		words += fmt.Sprintf(" Only the first %d MiB are kept.", maxAnswer>>20)
	}
	number := 0
	if len(data) > maxPart {
		number = w.answers.keep(data)
	}
	return part(words, data, number, 0, a.failed)
}

// part is the part of an answer's data that begins at a byte.
func part(words, data string, number, from int, failed bool) *mcp.CallToolResult {
	end := from + cut(data[from:], maxPart)
	if end < len(data) {
		words += fmt.Sprintf(" These are the bytes %d to %d of %d; call more with the cursor %d:%d for the next ones.", from, end, len(data), number, end)
	}
	content := []mcp.Content{&mcp.TextContent{Text: words}}
	if data != "" {
		content = append(content, &mcp.TextContent{Text: frame(data[from:end])})
	}
	return &mcp.CallToolResult{Content: content, IsError: failed}
}

// frame encloses data in tags that the data cannot close, since they have a random name.
func frame(data string) string {
	name := rand.Text()
	return "<data " + name + ">\n" + data + "\n</data " + name + ">"
}

// cut is the length of the longest beginning of a text that has at most a number of bytes: whole lines if one fits,
// else whole characters.
func cut(text string, most int) int {
	if len(text) <= most {
		return len(text)
	}
	if i := strings.LastIndexByte(text[:most], '\n'); i > 0 {
		return i + 1
	}
	for most > 1 && !utf8.RuneStart(text[most]) {
		most--
	}
	return most
}

// moreArguments are those of the tool more.
type moreArguments struct {
	Cursor string `json:"cursor" jsonschema:"the cursor that an answer named"`
}

// next is the tool more.
func (w *workshop) next(cursor string) (*mcp.CallToolResult, error) {
	before, after, _ := strings.Cut(cursor, ":")
	number, err := strconv.Atoi(before)
	from, failed := strconv.Atoi(after)
	data, ok := w.answers.find(number)
	if err != nil || failed != nil || !ok || from < 0 || from > len(data) || from < len(data) && !utf8.RuneStart(data[from]) {
		return nil, &report.Error{What: "there is no answer of this cursor", Hint: fmt.Sprintf("only the last %d long answers are kept; call the tool again", keptParts)}
	}
	return part("The answer goes on.", data, number, from, false), nil
}

// answer is the outcome of a call as an answer.
func (t *turn) answer(o outcome) answer {
	a := answer{
		words:  fmt.Sprintf("slipway %s ended with exit code %d: %s.", strings.Join(verbOf(o.call.args), " "), o.code, meaning(o.code)),
		data:   cleaner{t.secrets.hide}.lines(o.lines),
		failed: o.code != 0 && o.code != o.call.found,
	}
	if o.cutOff {
		a.words += " Its output was too long and is cut off."
	}
	return a
}

// verbOf is the command in a command line: the words before the first flag.
func verbOf(args []string) []string {
	for i, arg := range args {
		if strings.HasPrefix(arg, "-") {
			return args[:min(i, 2)]
		}
	}
	return args[:min(len(args), 2)]
}

// unknownSecrets is said where values of Secrets may be in an answer.
const unknownSecrets = " The Secrets of this cluster cannot be read, so other objects and logs may have their values."

// do runs a call and returns its answer.
func (t *turn) do(ctx context.Context, c call) (answer, error) {
	o, err := t.slipway(ctx, c)
	if err != nil {
		return answer{}, err
	}
	if c.kubeconfig == "" {
		return t.answer(o), nil
	}
	known := t.learnSecrets(ctx, c.kubeconfig)
	a := t.answer(o)
	if !known {
		a.words += unknownSecrets
	}
	return a, nil
}

// maxMessage bounds the text of progress, in bytes.
const maxMessage = 200

// progressOf reports the progress of a call to the agent, if that asked for it. The protocol wants numbers that grow.
func (w *workshop) progressOf(ctx context.Context, req *mcp.CallToolRequest) func(event) {
	token := req.Params.GetProgressToken()
	if token == nil {
		return nil
	}
	var mu sync.Mutex
	count := 0.0
	return func(e event) {
		if !e.passing() {
			return
		}
		message := cleaner{w.secrets.hide}.text(e.text("name"))
		if e.kind() == "progress" {
			message += fmt.Sprintf(": %.0f of %.0f %s", e.number("done"), e.number("total"), ansi.Plain(e.text("unit")))
		}
		mu.Lock()
		defer mu.Unlock()
		count++
		_ = req.Session.NotifyProgress(ctx, &mcp.ProgressNotificationParams{ // the call goes on without
			ProgressToken: token, Progress: count, Message: message[:cut(message, maxMessage)],
		})
	}
}
