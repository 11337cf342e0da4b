package plant

import (
	"bytes"
	"encoding/json"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Place is a statement that can be made to panic.
type Place struct {
	File string // relative to the module
	Line int
	Func string // the function around it
}

// Package is the place's package, relative to the module.
func (p Place) Package() string { return filepath.ToSlash(filepath.Dir(p.File)) }

func (p Place) String() string { return fmt.Sprintf("%s:%d (%s)", p.File, p.Line, p.Func) }

// Overlay writes planted copies of the packages in folders of the module at root into dir, and the file for go build
// -overlay. It returns that file's path and the places.
//
// A place is before a statement that can panic: one that calls something, indexes, slices, asserts a type, dereferences
// or divides. Left out are the statements up to the first defer where a function begins with one, since they panic in
// the caller as much; functions that call recover, which are the boundary; and those with directives for the compiler.
func Overlay(root, dir string, folders []string) (file string, places []Place, err error) {
	replace := map[string]string{}
	for _, folder := range folders {
		names, err := filepath.Glob(filepath.Join(root, folder, "*.go"))
		if err != nil {
			return "", nil, err
		}
		for _, name := range names {
			if strings.HasSuffix(name, "_test.go") || strings.Contains(name, "zz_generated") {
				continue
			}
			rel, err := filepath.Rel(root, name)
			if err != nil {
				return "", nil, err
			}
			text, found, err := plantFile(name, filepath.ToSlash(rel), len(places))
			if err != nil {
				return "", nil, err
			}
			if len(found) == 0 {
				continue
			}
			to := filepath.Join(dir, strings.ReplaceAll(rel, string(filepath.Separator), "__"))
			if err := os.WriteFile(to, text, 0o600); err != nil {
				return "", nil, err
			}
			replace[name] = to
			places = append(places, found...)
		}
	}
	if len(places) > MaxPlaces {
		return "", nil, fmt.Errorf("plant: %d places, at most %d are possible", len(places), MaxPlaces)
	}
	b, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		return "", nil, err
	}
	file = filepath.Join(dir, "overlay.json")
	return file, places, os.WriteFile(file, b, 0o600)
}

// planter goes through a file.
type planter struct {
	fset   *token.FileSet
	file   string
	first  int // number of the file's first place
	fn     string
	places []Place
	at     []int // offsets of the places
}

func plantFile(name, rel string, first int) (text []byte, places []Place, err error) {
	src, err := os.ReadFile(name)
	if err != nil {
		return nil, nil, err
	}
	p := &planter{fset: token.NewFileSet(), file: rel, first: first}
	f, err := parser.ParseFile(p.fset, name, src, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return nil, nil, err
	}
	for _, d := range f.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			if d.Body == nil || directed(d.Doc) {
				continue
			}
			p.fn = d.Name.Name
			if d.Recv != nil {
				p.fn = string(src[p.offset(d.Recv.List[0].Type.Pos()):p.offset(d.Recv.List[0].Type.End())]) + "." + p.fn
			}
			p.body(d.Body)
		case *ast.GenDecl: // functions that are values of variables
			p.fn = "a variable"
			p.literals(d)
		}
	}
	if len(p.at) == 0 {
		return nil, nil, nil
	}
	// In the order of the file; the import goes behind the name of the package, so that lines stay what they are.
	order := make([]int, len(p.at))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int { return p.at[a] - p.at[b] })
	var out bytes.Buffer
	done := p.offset(f.Name.End())
	out.Write(src[:done])
	out.WriteString(`; import plant__ "github.com/gocuda/cuda/internal/plant"`)
	for n, i := range order {
		out.Write(src[done:p.at[i]])
		fmt.Fprintf(&out, "if plant__.Here(%d) { panic(plant__.ErrPlanted) }; ", first+n)
		done = p.at[i]
		places = append(places, p.places[i])
	}
	out.Write(src[done:])
	return out.Bytes(), places, nil
}

func (p *planter) offset(pos token.Pos) int { return p.fset.Position(pos).Offset }

func directed(doc *ast.CommentGroup) bool {
	return doc != nil && slices.ContainsFunc(doc.List, func(c *ast.Comment) bool {
		return strings.HasPrefix(c.Text, "//go:")
	})
}

// literals plants the functions inside an expression, statement or declaration.
func (p *planter) literals(n ast.Node) {
	ast.Inspect(n, func(n ast.Node) bool {
		if f, ok := n.(*ast.FuncLit); ok {
			p.body(f.Body)
			return false
		}
		return true
	})
}

// body plants a function.
func (p *planter) body(b *ast.BlockStmt) {
	const beginning = 4 // statements
	if recovers(b) {
		p.literals(b)
		return
	}
	list := b.List
	for i := min(beginning, len(list)) - 1; i >= 0; i-- {
		if _, ok := list[i].(*ast.DeferStmt); ok {
			for _, s := range list[:i+1] {
				p.literals(s)
			}
			list = list[i+1:]
			break
		}
	}
	p.list(list)
}

// recovers says whether a function calls recover itself.
func recovers(b *ast.BlockStmt) (found bool) {
	ast.Inspect(b, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit:
			return false
		case *ast.CallExpr:
			if id, ok := n.Fun.(*ast.Ident); ok && id.Name == "recover" {
				found = true
			}
		}
		return true
	})
	return found
}

func (p *planter) list(list []ast.Stmt) {
	for _, s := range list {
		p.stmt(s, s.Pos())
	}
}

// stmt plants a statement that begins at pos, with its label.
func (p *planter) stmt(s ast.Stmt, pos token.Pos) {
	var own []ast.Node // what it evaluates itself
	switch s := s.(type) {
	case *ast.LabeledStmt:
		p.stmt(s.Stmt, pos)
		return
	case *ast.BlockStmt:
		p.list(s.List)
		return
	case *ast.IfStmt:
		own = nodes(s.Init, s.Cond)
		p.list(s.Body.List)
		p.otherwise(s.Else)
	case *ast.ForStmt:
		own = nodes(s.Init, s.Cond)
		p.list(s.Body.List)
	case *ast.RangeStmt:
		own = nodes(s.X)
		p.list(s.Body.List)
	case *ast.SwitchStmt:
		own = nodes(s.Init, s.Tag)
		p.list(s.Body.List)
	case *ast.TypeSwitchStmt:
		own = nodes(s.Init)
		p.list(s.Body.List)
	case *ast.SelectStmt:
		p.list(s.Body.List)
		return
	case *ast.CaseClause:
		p.list(s.Body)
		return
	case *ast.CommClause:
		p.list(s.Body)
		return
	case *ast.DeferStmt, *ast.GoStmt: // what they call is planted itself
		p.literals(s)
		return
	default:
		own = nodes(s)
	}
	risky := false
	for _, n := range own {
		risky = canPanic(n) || risky
		p.literals(n)
	}
	if risky {
		p.at = append(p.at, p.offset(pos))
		p.places = append(p.places, Place{p.file, p.fset.Position(pos).Line, p.fn})
	}
}

// otherwise plants what comes behind else; nothing can stand before an if that does.
func (p *planter) otherwise(s ast.Stmt) {
	switch s := s.(type) {
	case *ast.BlockStmt:
		p.list(s.List)
	case *ast.IfStmt:
		for _, n := range nodes(s.Init, s.Cond) {
			p.literals(n)
		}
		p.list(s.Body.List)
		p.otherwise(s.Else)
	}
}

// nodes leaves out what is not there.
func nodes(list ...ast.Node) (out []ast.Node) {
	for _, n := range list {
		switch x := n.(type) {
		case nil:
		case ast.Stmt:
			if x != nil {
				out = append(out, n)
			}
		case ast.Expr:
			if x != nil {
				out = append(out, n)
			}
		}
	}
	return out
}

// harmless are functions and conversions that cannot panic; of methods, those of locks and atomic values.
var harmless = map[string]bool{
	"len": true, "cap": true, "min": true, "max": true, "append": true, "copy": true, "make": true, "new": true,
	"delete": true, "clear": true, "panic": true,
	"bool": true, "byte": true, "int": true, "int8": true, "int16": true, "int32": true, "int64": true, "uint": true,
	"uint8": true, "uint16": true, "uint32": true,
	"uint64": true, "uintptr": true, "float32": true, "float64": true, "string": true,
	"Lock": true, "Unlock": true, "RLock": true, "RUnlock": true, "Load": true, "Store": true, "Swap": true,
	"Add": true, "CompareAndSwap": true,
	"Wait": true, "Done": true, "Signal": true, "Broadcast": true,
}

// canPanic says whether evaluating an expression or simple statement can panic, as far as its form tells. A selector
// may go through a nil pointer too; that is left out, since every statement would.
func canPanic(n ast.Node) (can bool) {
	asserts := map[ast.Node]bool{} // assertions that say whether they hold
	ast.Inspect(n, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit, *ast.ArrayType, *ast.MapType, *ast.FuncType, *ast.ChanType, *ast.StructType:
			return false
		case *ast.AssignStmt:
			if len(n.Lhs) == 2 && len(n.Rhs) == 1 {
				asserts[n.Rhs[0]] = true
			}
		case *ast.CallExpr:
			switch f := n.Fun.(type) {
			case *ast.Ident:
				can = can || !harmless[f.Name]
			case *ast.SelectorExpr:
				x, _ := f.X.(*ast.Ident)
				can = can || !harmless[f.Sel.Name] && (x == nil || x.Name != "unsafe")
			case *ast.ParenExpr, *ast.ArrayType, *ast.InterfaceType: // conversions
			default:
				can = true
			}
		case *ast.IndexExpr, *ast.SliceExpr, *ast.StarExpr:
			can = true
		case *ast.TypeAssertExpr:
			can = can || !asserts[n]
		case *ast.BinaryExpr:
			if n.Op == token.QUO || n.Op == token.REM {
				_, constant := n.Y.(*ast.BasicLit)
				can = can || !constant
			}
		}
		return true
	})
	return can
}
