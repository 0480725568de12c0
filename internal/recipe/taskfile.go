package recipe

import (
	"maps"
	"path"

	"go.yaml.in/yaml/v3"
)

// taskfile reads a Taskfile (https://taskfile.dev/docs/reference/schema).
func (t *tasks) taskfile(content []byte) {
	var document yaml.Node
	if yaml.Unmarshal(content, &document) != nil || len(document.Content) == 0 {
		return
	}
	top := document.Content[0]
	t.values = maps.Clone(t.values)
	t.variables(child(top, "vars"))
	each(child(top, "includes"), func(name string, _, included *yaml.Node) {
		file, dir, prefix := included.Value, t.dir, t.prefix+name+":"
		if included.Kind == yaml.MappingNode {
			file = scalar(included, "taskfile")
			dir = t.taskFolder(t.dir, scalar(included, "dir"))
			if scalar(included, "flatten") == "true" {
				prefix = t.prefix
			}
		}
		rel, ok := Below(path.Dir(t.file), t.replaced(file))
		if !ok || file == "" {
			return
		}
		if path.Ext(rel) == "" {
			rel = path.Join(rel, "Taskfile.yml")
		}
		t.include(rel, prefix, dir, (*tasks).taskfile)
	})
	each(child(top, "tasks"), func(name string, key, task *yaml.Node) {
		if !t.room.takes(32 * len(t.values)) {
			return
		}
		t.group++
		own := *t
		own.values = maps.Clone(t.values)
		own.variables(child(task, "vars"))
		dir := own.taskFolder(t.dir, scalar(task, "dir"))
		commands := []*yaml.Node{task}
		if task.Kind == yaml.MappingNode {
			commands = append([]*yaml.Node{child(task, "cmd")}, items(child(task, "cmds"))...)
		} else if task.Kind == yaml.SequenceNode {
			commands = items(task)
		}
		for _, command := range commands {
			if command != nil && command.Kind == yaml.MappingNode {
				command = child(command, "cmd")
			}
			if command == nil || command.Kind != yaml.ScalarNode {
				continue
			}
			line := command.Line
			if command.Style&(yaml.LiteralStyle|yaml.FoldedStyle) != 0 {
				line++ // the text begins below | or >
			}
			own.add(name, line, dir, command.Value)
		}
		t.texts = own.texts
	})
}

// variables records the variables of a Taskfile. Those that a command computes are unknown.
func (t *tasks) variables(vars *yaml.Node) {
	each(vars, func(name string, _, value *yaml.Node) {
		t.values[name] = Unknown
		if value.Kind == yaml.ScalarNode {
			t.values[name] = t.replaced(value.Value)
		}
	})
}

func each(mapping *yaml.Node, yield func(name string, key, value *yaml.Node)) {
	if mapping == nil || mapping.Kind != yaml.MappingNode {
		return
	}
	for i := 0; i+1 < len(mapping.Content); i += 2 {
		yield(mapping.Content[i].Value, mapping.Content[i], resolved(mapping.Content[i+1]))
	}
}

// child returns the value of a key, or nil.
func child(mapping *yaml.Node, key string) (found *yaml.Node) {
	each(mapping, func(name string, _, value *yaml.Node) {
		if name == key {
			found = value
		}
	})
	return found
}

// scalar returns the scalar value of a key, or "".
func scalar(mapping *yaml.Node, key string) string {
	if node := child(mapping, key); node != nil && node.Kind == yaml.ScalarNode {
		return node.Value
	}
	return ""
}

func items(sequence *yaml.Node) (all []*yaml.Node) {
	if sequence == nil || sequence.Kind != yaml.SequenceNode {
		return nil
	}
	for _, item := range sequence.Content {
		all = append(all, resolved(item))
	}
	return all
}

// resolved returns the node that an alias refers to.
func resolved(node *yaml.Node) *yaml.Node {
	if node.Kind == yaml.AliasNode && node.Alias != nil {
		return node.Alias
	}
	return node
}
