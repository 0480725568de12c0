package clusterspec

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/slipway-dev/slipway/internal/protocol"
	"github.com/slipway-dev/slipway/internal/report"
)

// Flags are the texts that the user gave to flags of [Options], by the flag's name.
type Flags map[string][]string

// Spec returns what the flags of a command ask for. A mistake is a [report.Error] with the flag.
func (f Flags) Spec(command string) (s Spec, err error) {
	for _, o := range Options() {
		texts := f[o.Flag]
		if len(texts) == 0 {
			continue
		}
		if o.beside != nil {
			err = o.beside(s, texts)
		}
		if err = cmp.Or(err, o.parse(&s, texts)); err != nil {
			return s, &report.Error{What: err.Error(), Where: "--" + o.Flag, Hint: expected(err), Next: command + " --help"}
		}
	}
	return s, nil
}

func setBool(value *bool, text string) (err error) {
	if *value, err = strconv.ParseBool(text); err != nil {
		return &mistake{fmt.Sprintf("invalid value %q", text), "true or false"}
	}
	return nil
}

// setSwitch is setBool for a field in which nil means that nothing is asked for.
func setSwitch(value **bool, text string) error {
	*value = new(bool)
	return setBool(*value, text)
}

// maxPort is the largest port.
const maxPort = 65535

func setPort(port *int, text string) (err error) {
	if *port, err = strconv.Atoi(text); err != nil || *port < 0 || *port > maxPort {
		return &mistake{"invalid port " + text, fmt.Sprintf("use 1 to %d, or 0 for a free one", maxPort)}
	}
	return nil
}

func addHostPort(ports *[]int, text string) error {
	var port int
	if err := setPort(&port, text); err != nil || port == 0 {
		return &mistake{"invalid port " + text, fmt.Sprintf("use 1 to %d", maxPort)}
	}
	*ports = append(*ports, port)
	return nil
}

// setHabit sets what becomes of simulated pods; an empty text leaves it to the program.
func setHabit(habit *string, text string) error {
	if *habit = text; text == "" {
		return nil
	}
	return checkHabit(text)
}

func setControllers(c **Controllers, text string) error {
	parsed, err := ParseControllers(text)
	*c = &parsed
	return err
}

// addNode adds a node as [ParseNode] reads it. The text none alone is for a cluster without nodes.
func addNode(nodes *[]protocol.Node, text string) error {
	if text == none && *nodes == nil {
		*nodes = []protocol.Node{}
		return nil
	}
	node, err := ParseNode(text)
	switch {
	case err != nil:
		return err
	case node.Name == none || *nodes != nil && len(*nodes) == 0:
		return errors.New(none + " means no nodes and excludes other values")
	case slices.ContainsFunc(*nodes, func(other protocol.Node) bool { return other.Name == node.Name }):
		return fmt.Errorf("a second node named %s", node.Name)
	}
	*nodes = append(*nodes, node)
	return nil
}

// addGate adds a feature gate: NAME=true or NAME=false.
func addGate(gates *map[string]bool, text string) error {
	name, value, ok := strings.Cut(text, "=")
	on, err := strconv.ParseBool(value)
	if !ok || name == "" || err != nil {
		return &mistake{fmt.Sprintf("invalid feature gate %q", text), "NAME=true or NAME=false"}
	}
	*gates = with(*gates, name, on)
	return nil
}

// addRuntime adds a setting of the API's versions: GROUP/VERSION=true or =false; without a value it is true.
func addRuntime(versions *map[string]string, text string) error {
	key, value, ok := strings.Cut(text, "=")
	if !ok {
		value = "true"
	}
	if key == "" {
		return &mistake{fmt.Sprintf("invalid version of an API %q", text), "GROUP/VERSION=true, like api/all=true or batch/v2alpha1=true"}
	}
	*versions = with(*versions, key, value)
	return nil
}

func addFlag(flags *[]string, text string) error {
	flag, err := ParseFlag(text)
	*flags = append(*flags, flag)
	return err
}
