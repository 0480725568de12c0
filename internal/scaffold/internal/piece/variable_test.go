package piece

import "testing"

func TestMakefileVariable(t *testing.T) {
	variable := MakefileVariable{Name: "TOOL", Default: "tool"}
	const text = "TOOL ?= tool\n"
	for name, test := range map[string]struct{ src, put, taken string }{
		"missing":       {"all:\n\ttrue\n", "all:\n\ttrue\n\n" + text, "all:\n\ttrue\n"},
		"used":          {"all:\n\t$(TOOL) x\n", "all:\n\t$(TOOL) x\n\n" + text, "all:\n\t$(TOOL) x\n\n" + text},
		"there":         {"TOOL := ./bin/tool\nall:\n", "TOOL := ./bin/tool\nall:\n", "TOOL := ./bin/tool\nall:\n"},
		"exported":      {"export TOOL=x\n", "export TOOL=x\n", "export TOOL=x\n"},
		"another name":  {"TOOL_DIR = x\n", "TOOL_DIR = x\n\n" + text, "TOOL_DIR = x\n"},
		"among others'": {"A = b\n" + text, "A = b\n" + text, "A = b\n" + text},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := variable.Put("Makefile", []byte(test.src))
			if err != nil || string(got) != test.put {
				t.Fatalf("put: %q, %v", got, err)
			}
			if again, err := variable.Put("Makefile", got); err != nil || string(again) != string(got) {
				t.Errorf("a second time: %q, %v", again, err)
			}
			if taken, line := variable.Take(got); string(taken) != test.taken || line != 0 {
				t.Errorf("taken: %q, line %d", taken, line)
			}
		})
	}
}
