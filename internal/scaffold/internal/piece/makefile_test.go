package piece

import "testing"

func TestMakefileTarget(t *testing.T) {
	target := MakefileTarget{Name: "e2e", Text: ".PHONY: e2e\ne2e: ## Run.\n\tgo test\n"}
	for name, test := range map[string]struct {
		src, put string
		line     int // where Remove finds it in another form
	}{
		"missing":             {"all:\n\ttrue\n", "all:\n\ttrue\n\n" + target.Text, 0},
		"no last line feed":   {"all:", "all:\n\n" + target.Text, 0},
		"empty":               {"", target.Text, 0},
		"another recipe":      {"all:\n\n.PHONY: e2e\ne2e: all\n\t./e2e.sh\n", "all:\n\n.PHONY: e2e\ne2e: all\n\t./e2e.sh\n", 4},
		"a longer name":       {"e2e-all:\n", "e2e-all:\n\n" + target.Text, 0},
		"a variable's name":   {"e2e := x\n", "e2e := x\n\n" + target.Text, 0},
		"only in .PHONY":      {".PHONY: e2e\n", ".PHONY: e2e\n\n" + target.Text, 0},
		"a target's variable": {"e2e: export A=b\n", "e2e: export A=b\n", 1},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := target.Insert("Makefile", []byte(test.src))
			if err != nil || string(got) != test.put {
				t.Fatalf("put: %q, %v", got, err)
			}
			again, err := target.Insert("Makefile", got)
			if err != nil || string(again) != string(got) {
				t.Errorf("a second time: %q, %v", again, err)
			}
			back, line := target.Remove(got)
			if line != test.line {
				t.Errorf("taken at line %d, want %d", line, test.line)
			}
			if want := test.src; line == 0 && string(back) != want && string(back) != want+"\n" {
				t.Errorf("taken: %q", back)
			}
		})
	}
}

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
			got, err := variable.Insert("Makefile", []byte(test.src))
			if err != nil || string(got) != test.put {
				t.Fatalf("put: %q, %v", got, err)
			}
			if again, err := variable.Insert("Makefile", got); err != nil || string(again) != string(got) {
				t.Errorf("a second time: %q, %v", again, err)
			}
			if taken, line := variable.Remove(got); string(taken) != test.taken || line != 0 {
				t.Errorf("taken: %q, line %d", taken, line)
			}
		})
	}
}
