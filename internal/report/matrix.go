package report

// Matrix is a confusion matrix: rows are what pages are, columns what they were
// said to be.
type Matrix struct {
	Columns []string
	Rows    []MatrixRow
	Narrow  bool // so many columns that their names must stand upright
}

// MatrixRow is one class, and how many of its pages got each label.
type MatrixRow struct {
	Name  string
	Cells []MatrixCell // a cell a column
	Total int
}

// MatrixCell counts the pages of a row that got the column's label.
type MatrixCell struct {
	Pages int
	Shade int  // 0…9, the cell's share of its row in tenths
	Right bool // row and column are the same class
}

// manyColumns is from how many columns on names no longer fit beside each other.
const manyColumns = 8

// NewMatrix lays out counts, a row a name of rows and a column a name of columns.
// A page may be in no column: a row's total is the sum of its cells unless totals
// gives it (nil: none does).
func NewMatrix(rows, columns []string, counts [][]int, totals []int) *Matrix {
	m := &Matrix{Columns: columns, Narrow: len(columns) >= manyColumns}
	for i, name := range rows {
		row := MatrixRow{Name: name}
		for j, n := range counts[i] {
			row.Cells = append(row.Cells, MatrixCell{Pages: n, Right: name == columns[j]})
			row.Total += n
		}
		if totals != nil {
			row.Total = totals[i]
		}
		for j := range row.Cells {
			row.Cells[j].Shade = min(9, 10*row.Cells[j].Pages/max(1, row.Total))
		}
		m.Rows = append(m.Rows, row)
	}
	return m
}
