package makefile

import (
	"path"
	"path/filepath"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// inFolder reads a line like `cd DIR; program` or `cd DIR && program`: the statements behind cd, the folder relative to
// the project's, and why the folder is unknown. Another line has no statements there.
func inFolder(stmts []*syntax.Stmt) (rest []*syntax.Stmt, dir, unclear string) {
	sequence := inTurn(stmts)
	if len(sequence) < 2 {
		return nil, "", ""
	}
	cd, ok := sequence[0].Cmd.(*syntax.CallExpr)
	if !ok || !plain(sequence[0]) || len(cd.Assigns) > 0 || len(cd.Args) == 0 {
		return nil, "", ""
	}
	if name, _ := literal(cd.Args[0]); name != "cd" {
		return nil, "", ""
	}
	dir, unclear = folderOf(cd.Args[1:])
	return sequence[1:], dir, unclear
}

// folderOf is the folder that the arguments of cd name.
func folderOf(arguments []*syntax.Word) (dir, unclear string) {
	if len(arguments) != 1 {
		return "", "cd has not one folder"
	}
	text, clear := literal(arguments[0])
	switch {
	case !clear || strings.ContainsAny(text, "*?[{"):
		return "", "its folder depends on what only make or the shell know"
	case text == "" || strings.HasPrefix(text, "~") || strings.HasPrefix(text, "-") || !filepath.IsLocal(filepath.FromSlash(text)):
		return "", "its folder is outside of the project"
	}
	if dir = path.Clean(text); dir == "." {
		dir = ""
	}
	return dir, ""
}

// inTurn are the statements that run one after the other, those of chains with && too.
func inTurn(stmts []*syntax.Stmt) (all []*syntax.Stmt) {
	for _, stmt := range stmts {
		if chain, ok := stmt.Cmd.(*syntax.BinaryCmd); ok && chain.Op == syntax.AndStmt && plain(stmt) {
			all = append(all, inTurn([]*syntax.Stmt{chain.X, chain.Y})...)
			continue
		}
		all = append(all, stmt)
	}
	return all
}

// plain reports whether a statement is a command and nothing around it.
func plain(stmt *syntax.Stmt) bool {
	return len(stmt.Redirs) == 0 && !stmt.Background && !stmt.Negated
}
