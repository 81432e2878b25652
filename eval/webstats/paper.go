package webstats

// The figures of paper E, section E5. Its code is any answer but 200, redirects too; its ok are the
// pages whose content was known already, too.
var (
	paperStates = map[string]float64{"ok": 0.9126, "code": 0.0829, "connect_error": 0.0011}
	paperSeeds  = map[string]float64{"ok": 0.8708, "code": 0.0409, "no_ip": 0.0368}
	paperLabels = map[int]float64{4: 0.524}                                                                                                           // of start pages' hosts
	paperFound  = []float64{5.6, 6.0, 3.9, 2.4, 1.6}                                                                                                  // new links a page by depth
	paperSteps  = map[int]float64{0: 0.999}                                                                                                           // of page sizes
	paperMeans  = map[string][3]any{meanSeed: {int64(5), 17.38, int64(49)}, meanGotPath: {int64(0), 71.78, int64(255)}, meanSize: {nil, 18451., nil}} // least, mean, most
)

// paperOutcome is what came of requests for pages of Korea's web in 2002.
const paperOutcome = "in Korea in 2002 91.3 % did." // 67,488,127 of 73,954,114

// paperPacked is the size of packed pages to that of pages: 400 GB of 1.2 TB.
const paperPacked = 1. / 3

// ofPaper is a figure of the paper, unknown where it has none.
func ofPaper[K comparable](figures map[K]float64, of K) any {
	if x, ok := figures[of]; ok {
		return x
	}
	return nil
}
