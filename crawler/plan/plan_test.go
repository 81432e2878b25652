package plan

import (
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"fossick/crawler"
	"fossick/internal/cli"
	"fossick/internal/page"
	"fossick/internal/testkit"
	"fossick/models"
	"fossick/relevance/propose"
	"fossick/store"
)

// bees is a crawl of the public web that can be planned.
func bees() *Crawl {
	return &Crawl{Topic: "bees", Settings: Settings{
		Goal:    Goal{Keywords: []string{"bee", "hive"}, Seed: []string{"bees.example/start"}},
		Manners: Manners{Contact: "me@uni-x.de"},
	}}
}

// program collects what a plan says.
func program(said *[]string) Program {
	return Program{Version: "0.1.0", Seed: 1, Log: slog.New(slog.DiscardHandler), Say: func(format string, args ...any) {
		*said = append(*said, fmt.Sprintf(format, args...))
	}}
}

// TestPatience: a crawl that is paid with time alone waits for nothing, and one with a limit
// of pages decides by itself, unless it was told how long to wait.
func TestPatience(t *testing.T) {
	for _, c := range []struct {
		budget Budget
		want   float64
		err    string
	}{
		{Budget{}, 0, ""},
		{Budget{MaxPages: 50, MaxTime: time.Hour}, 0, ""},
		{Budget{MaxTime: time.Hour}, 1, ""},
		{Budget{MaxTime: time.Hour, Patience: "2.5"}, 2.5, ""},
		{Budget{Patience: "none"}, 1, ""},
		{Budget{Patience: "0.5"}, 0, "want auto, none, or how many times"},
		{Budget{Patience: "NaN"}, 0, "want auto, none, or how many times"},
		{Budget{Patience: "much"}, 0, "want auto, none, or how many times"},
	} {
		var opt crawler.Options
		err := c.budget.apply(&opt)
		if (err != nil) != (c.err != "") || err != nil && !strings.Contains(err.Error(), c.err) || opt.Patience != c.want {
			t.Errorf("%+v: patience %g, error %v; want %g, %q", c.budget, opt.Patience, err, c.want, c.err)
		}
	}
}

// TestPlan: what is asked of a crawl becomes options of crawler and fetcher.
func TestPlan(t *testing.T) {
	var said []string
	c, on := bees(), true
	c.MaxPagesPerSite, c.TLD, c.Lang, c.Exclude, c.Traps, c.NearDuplicates = 5, []string{".EXAMPLE"}, []string{"en"}, "/login", "follow", "keep"
	c.Cookies, c.UserAgent, c.Delay = &on, "bot x/2", "2s"
	p := testkit.Call(c.Plan(program(&said))).Must(t)
	o := p.Crawl
	if !slices.Equal(o.Seeds, []string{"https://bees.example/start"}) || len(said) != 1 || !strings.Contains(said[0], "is taken as https://bees.example/start") {
		t.Errorf("start pages %v, said %q", o.Seeds, said)
	}
	if o.MaxPages != 1000 || o.MaxPerSite != 5 || o.Threshold != 0.2 || o.Agent != "bot" || !o.FollowTraps || !o.KeepNear {
		t.Errorf("%+v", o)
	}
	if !o.Delay.Fixed || o.Delay.Rest != 2*time.Second || !slices.Equal(o.Scope.TLD, []string{"example"}) || o.Scope.Excludes("http://a.example/login") == "" {
		t.Errorf("delay %v, scope %+v", o.Delay, o.Scope)
	}
	if f := p.Fetch; !f.Cookies || f.ConnsPerHost != 1 || !strings.Contains(f.UserAgent, "bot x/2") || !strings.Contains(f.UserAgent, "me@uni-x.de") {
		t.Errorf("%+v", f)
	}
	if p.scored != "paper" || !slices.Equal(p.Keywords, []string{"bee", "hive"}) {
		t.Errorf("scored by %s for %v", p.scored, p.Keywords)
	}
}

// TestHowIsChosen: without --score a model is learned from, unless a flag of paper A's
// score is given.
func TestHowIsChosen(t *testing.T) {
	share := 0.1
	for want, c := range map[string]*Crawl{
		"learned": {Topic: "science"}, "paper": {Topic: "science", Settings: Settings{Scoring: Scoring{Rho: &share}}},
		"shark": {Topic: "science", Settings: Settings{Scoring: Scoring{Score: "shark"}}},
	} {
		c.Contact = "me@uni-x.de"
		p, err := c.Plan(program(new([]string)))
		if err != nil || p.scored != want {
			t.Errorf("%v; want %s", err, want)
		}
	}
}

// TestMistakes: settings that no crawl can have are mistakes of who gave them.
func TestMistakes(t *testing.T) {
	share, two := 0.5, 2.0
	for want, spoil := range map[string]func(*Crawl){
		"--workers -1":                           func(c *Crawl) { c.Workers = -1 },
		"--max-depth -1":                         func(c *Crawl) { c.MaxDepth = -1 },
		"--min-harvest 2":                        func(c *Crawl) { c.MinHarvest = &two },
		"--tld \".\"":                            func(c *Crawl) { c.TLD = []string{"."} },
		"--lang xx":                              func(c *Crawl) { c.Lang = []string{"xx"} },
		"--include":                              func(c *Crawl) { c.Include = "(" },
		"excluded by bees":                       func(c *Crawl) { c.Exclude = "bees" },
		"is a file; to read":                     func(c *Crawl) { c.Seed = []string{"plan_test.go"} },
		"no start pages":                         func(c *Crawl) { c.Seed = nil },
		"give --resume with it":                  func(c *Crawl) { c.Refresh = time.Hour },
		"needs --contact":                        func(c *Crawl) { c.Contact = "" },
		"--order":                                func(c *Crawl) { c.Order = "upwards" },
		"--order bfs drops no links":             func(c *Crawl) { c.Order, c.Threshold = "bfs", &share },
		"no policy":                              func(c *Crawl) { c.Score = "luck" },
		"learns from a model's labels":           func(c *Crawl) { c.Score = "learned" },
		"only with --score paper and paper-mean": func(c *Crawl) { c.Score, c.Rho = "bfs", &share },
		"or give --model or --keywords":          func(c *Crawl) { c.Keywords = nil },
		"the password is not kept":               func(c *Crawl) { c.Proxy = "http://me:xxxxx@127.0.0.1:1" },
		"--allow-net 10":                         func(c *Crawl) { c.AllowNet = []string{"10"} },
		"only the proxy knows with --proxy":      func(c *Crawl) { c.CIDR, c.Proxy = "nets", "http://127.0.0.1:1" },
		"give a file with one network a line":    func(c *Crawl) { c.CIDR = "none" },
		"want auto, 0, or a time such as 500ms":  func(c *Crawl) { c.Delay = "soon" },
	} {
		c := bees()
		spoil(c)
		var mistake cli.UsageError
		if _, err := c.Plan(program(new([]string))); err == nil || !strings.Contains(err.Error(), want) || !errors.As(err, &mistake) {
			t.Errorf("%v; want a mistake with %q", err, want)
		}
	}
}

// TestReachable: loopback, a proxy and a made-up table of hosts are not the public web.
func TestReachable(t *testing.T) {
	for _, reach := range []func(*Crawl){
		func(c *Crawl) { c.Seed = []string{"http://127.0.0.1:8080/"} },
		func(c *Crawl) { c.Proxy = "http://127.0.0.1:1" },
	} {
		c := bees()
		c.Contact = ""
		reach(c)
		if _, err := c.Plan(program(new([]string))); err != nil {
			t.Error(err)
		}
	}
	var said []string
	c := bees()
	c.Seed, c.Contact = []string{"https://bees.example/"}, "you@example.org"
	if _, err := c.Plan(program(&said)); err != nil || len(said) != 1 || !strings.Contains(said[0], "give your own") {
		t.Errorf("%v, said %q", err, said)
	}
}

// TestResume: a crawl goes on by what its store keeps, unless told otherwise.
func TestResume(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "bees")
	s, err := store.Create(dir, store.Info{Topic: "bees"})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	first := bees()
	first.Store, first.Workers, first.Listen, first.Dropped, first.Proxy = dir, 3, ":0", []string{}, "http://me:secret@127.0.0.1:1"
	p, err := first.Plan(program(new([]string)))
	if err != nil {
		t.Fatal(err)
	}
	testkit.Must(t, first.Keep(s, p))
	if strings.Contains(string(s.Info().Settings), "secret") {
		t.Errorf("the proxy's password is kept: %s", s.Info().Settings)
	}
	again := &Crawl{Store: dir, Resume: true, Settings: Settings{Manners: Manners{Workers: 5}, Network: Network{Ways: Ways{Proxy: "http://127.0.0.1:1"}}}}
	opened, err := again.Recall(s)
	if err != nil || opened != "--listen :0" {
		t.Errorf("opens %q, %v", opened, err)
	}
	if again.Topic != "bees" || again.Workers != 5 || again.Score != "paper" || again.Contact != "me@uni-x.de" || again.Dropped == nil || len(again.Dropped) > 0 {
		t.Errorf("%+v", again)
	}
	if p, err = again.Plan(program(new([]string))); err != nil || !slices.Equal(p.Crawl.Seeds, []string{"https://bees.example/start"}) {
		t.Errorf("%v", err)
	}
	kept, err := Changed(s, func(k *Settings) { k.MaxPages = NoLimit })
	if err != nil || s.SetSettings(kept) != nil {
		t.Fatal(err)
	}
	endless := &Crawl{Store: dir, Resume: true, Settings: Settings{Network: Network{Ways: Ways{Proxy: "http://127.0.0.1:1"}}}}
	testkit.Call(endless.Recall(s)).Must(t)
	if p, err = endless.Plan(program(new([]string))); err != nil || p.Crawl.MaxPages != 0 {
		t.Errorf("a limit that was taken away: %+v, %v", p, err)
	}
	other := &Crawl{Store: dir, Settings: Settings{scope: scope{Dropped: []string{"sid"}}}}
	if _, err := other.Recall(s); err == nil || !strings.Contains(err.Error(), "began with another list") {
		t.Errorf("other parameters: %v", err)
	}
	if _, err := (&Crawl{Store: dir, Topic: "wasps"}).Recall(s); err == nil || !strings.Contains(err.Error(), `the store's topic is "bees"`) {
		t.Errorf("another topic: %v", err)
	}
	testkit.Must(t, os.Mkdir(propose.StoredSeeds(dir), 0o700))
	if _, err := (&Crawl{Store: dir}).Recall(s); err == nil || !strings.Contains(err.Error(), "remove the existing file or folder") {
		t.Errorf("a folder in the place of the start pages: %v", err)
	}
}

// strange is a page that no built-in topic knows anything of.
type strange struct{ kind, name, html string }

// tongue is a language in which pages are made up: all of cooking, markets and weather.
type tongue struct {
	code  string
	lines []string
}

var tongues = []tongue{
	{"ru", []string{"Нарежьте лук мелкими кубиками и обжарьте его на сливочном масле до золотистого цвета.", "Добавьте морковь, чеснок и томатную пасту, затем тушите овощи под крышкой двадцать минут.", "Бабушка всегда варила этот суп по воскресеньям, когда вся семья собиралась за столом.", "Тесто должно постоять в тёплом месте около часа, прежде чем вы раскатаете его тонко.", "Подавайте блюдо горячим со сметаной, свежей зеленью и ржаным хлебом.", "На рынке утром продают самую свежую рыбу, яблоки и домашний сыр."}},
	{"uk", []string{"Наріжте цибулю дрібними кубиками та обсмажте її на олії до золотистого кольору.", "Додайте моркву, часник і томатну пасту, потім тушкуйте овочі двадцять хвилин.", "Бабуся завжди варила цей борщ у неділю, коли вся родина збиралася за столом.", "Тісто має постояти в теплому місці близько години.", "Подавайте страву гарячою зі сметаною та свіжою зеленню."}},
	{"bg", []string{"Нарежете лука на ситно и го запържете в малко масло до златисто.", "Добавете моркови, чесън и домати, след което задушете зеленчуците двадесет минути.", "Баба винаги готвеше тази супа в неделя, когато цялото семейство се събираше.", "Тестото трябва да почине на топло около един час.", "Сервирайте ястието топло с кисело мляко и хляб."}},
	{"el", []string{"Κόψτε το κρεμμύδι σε μικρούς κύβους και σοτάρετέ το στο ελαιόλαδο.", "Προσθέστε το καρότο, το σκόρδο και την ντομάτα και σιγοβράστε για είκοσι λεπτά.", "Η γιαγιά μαγείρευε πάντα αυτή τη σούπα την Κυριακή.", "Η ζύμη πρέπει να ξεκουραστεί σε ζεστό μέρος περίπου μία ώρα.", "Σερβίρετε το φαγητό ζεστό με φρέσκο ψωμί και τυρί."}},
	{"ar", []string{"قطّع البصل إلى مكعبات صغيرة ثم اقله في الزبدة حتى يصبح ذهبي اللون.", "أضف الجزر والثوم ومعجون الطماطم ثم اترك الخضار على نار هادئة عشرين دقيقة.", "كانت جدتي تطبخ هذا الحساء كل يوم جمعة عندما تجتمع العائلة.", "يجب أن يرتاح العجين في مكان دافئ نحو ساعة.", "قدّم الطبق ساخنا مع الخبز الطازج والليمون."}},
	{"fa", []string{"پیاز را ریز خرد کنید و در کره سرخ کنید تا طلایی شود.", "هویج و سیر و رب گوجه را اضافه کنید و بیست دقیقه روی شعله کم بپزید.", "مادربزرگ همیشه این آش را روزهای جمعه می\u200cپخت.", "خمیر باید حدود یک ساعت در جای گرم بماند.", "غذا را گرم با نان تازه و سبزی سر سفره بیاورید."}},
	{"he", []string{"חתכו את הבצל לקוביות קטנות וטגנו אותו בחמאה עד להזהבה.", "הוסיפו גזר, שום ורסק עגבניות ובשלו את הירקות עשרים דקות.", "סבתא תמיד בישלה את המרק הזה בשבת כשכל המשפחה התאספה.", "הבצק צריך לנוח במקום חם כשעה.", "הגישו את המנה חמה עם לחם טרי."}},
	{"hi", []string{"प्याज को छोटे टुकड़ों में काटें और मक्खन में सुनहरा होने तक भूनें।", "गाजर, लहसुन और टमाटर डालें और बीस मिनट तक धीमी आँच पर पकाएँ।", "दादी हमेशा रविवार को यह सूप बनाती थीं जब पूरा परिवार इकट्ठा होता था।", "आटे को लगभग एक घंटे गर्म जगह पर रखें।", "खाना गरम रोटी और दही के साथ परोसें।"}},
	{"th", []string{"หั่นหัวหอมเป็นชิ้นเล็กแล้วผัดกับเนยจนเป็นสีทอง", "ใส่แครอท กระเทียม และมะเขือเทศ แล้วเคี่ยวผักยี่สิบนาที", "คุณยายทำซุปนี้ทุกวันอาทิตย์เมื่อครอบครัวมาพร้อมหน้ากัน", "พักแป้งไว้ในที่อุ่นประมาณหนึ่งชั่วโมง", "เสิร์ฟร้อนกับขนมปังสด"}},
	{"zh", []string{"把洋葱切成小块，用黄油炒至金黄色。", "加入胡萝卜、大蒜和番茄酱，然后用小火炖二十分钟。", "每到星期天，奶奶总是煮这种汤，全家人坐在一起吃饭。", "面团要在温暖的地方放一个小时左右。", "趁热上桌，配新鲜的面包和青菜。"}},
	{"ja", []string{"玉ねぎを小さく切って、バターできつね色になるまで炒めます。", "にんじんとにんにくとトマトを加えて、弱火で二十分煮込みます。", "祖母は日曜日になると家族のためにこのスープを作ってくれました。", "生地は暖かい場所で一時間ほど休ませてください。", "焼きたてのパンと一緒に温かいうちに出します。"}},
	{"ko", []string{"양파를 작게 썰어 버터에 노릇하게 볶아 주세요.", "당근과 마늘과 토마토를 넣고 약한 불에서 이십 분 동안 끓입니다.", "할머니는 일요일마다 온 가족을 위해 이 국을 끓이셨습니다.", "반죽은 따뜻한 곳에서 한 시간 정도 쉬게 합니다.", "갓 구운 빵과 함께 따뜻하게 드세요."}},
	{"ka", []string{"ხახვი წვრილად დაჭერით და კარაქში მოშუშეთ.", "დაამატეთ სტაფილო, ნიორი და პომიდორი და ოცი წუთი მოხარშეთ.", "ბებია ამ წვნიანს ყოველთვის კვირას ამზადებდა.", "ცომი თბილ ადგილას ერთი საათი უნდა გაჩერდეს.", "მიირთვით ცხელი, ახალ პურთან ერთად."}},
	{"de", []string{"Schneiden Sie die Zwiebeln in kleine Würfel und braten Sie sie in Butter goldgelb an.", "Geben Sie Möhren, Knoblauch und Tomatenmark dazu und lassen Sie das Gemüse zwanzig Minuten schmoren.", "Meine Großmutter kochte diese Suppe immer sonntags, wenn die ganze Familie am Tisch saß.", "Der Teig muss etwa eine Stunde an einem warmen Ort ruhen, bevor er ausgerollt wird.", "Auf dem Markt gibt es morgens frischen Fisch, Äpfel und Käse vom Bauern.", "Das Wetter soll am Wochenende sonnig werden, danach ziehen von Westen Wolken auf."}},
	{"fr", []string{"Coupez les oignons en petits dés et faites-les revenir dans le beurre.", "Ajoutez les carottes, l'ail et la tomate, puis laissez mijoter les légumes pendant vingt minutes.", "Ma grand-mère préparait toujours cette soupe le dimanche pour toute la famille.", "La pâte doit reposer une heure environ dans un endroit chaud.", "Au marché, on trouve le matin du poisson frais, des pommes et du fromage.", "Le temps sera ensoleillé ce week-end, puis des nuages arriveront par l'ouest."}},
	{"es", []string{"Corte las cebollas en dados pequeños y dórelas en la mantequilla.", "Añada las zanahorias, el ajo y el tomate y deje cocer las verduras durante veinte minutos.", "Mi abuela siempre preparaba esta sopa los domingos para toda la familia.", "La masa debe reposar una hora en un lugar cálido antes de extenderla.", "En el mercado se vende por la mañana pescado fresco, manzanas y queso.", "El tiempo será soleado el fin de semana y después llegarán nubes desde el oeste."}},
	{"it", []string{"Tagliate le cipolle a cubetti piccoli e fatele dorare nel burro.", "Aggiungete le carote, l'aglio e il pomodoro e lasciate cuocere le verdure per venti minuti.", "La nonna preparava sempre questa minestra la domenica per tutta la famiglia.", "L'impasto deve riposare circa un'ora in un luogo caldo.", "Al mercato si trovano la mattina pesce fresco, mele e formaggio.", "Nel fine settimana il tempo sarà soleggiato, poi arriveranno le nuvole da ovest."}},
	{"pt", []string{"Corte as cebolas em cubos pequenos e doure na manteiga.", "Junte as cenouras, o alho e o tomate e deixe cozinhar os legumes durante vinte minutos.", "A minha avó fazia sempre esta sopa aos domingos para toda a família.", "A massa deve descansar uma hora num lugar quente.", "No mercado vende-se de manhã peixe fresco, maçãs e queijo."}},
	{"ro", []string{"Tăiați ceapa cubulețe mici și căliți-o în unt până devine aurie.", "Adăugați morcovii, usturoiul și roșiile și lăsați legumele la fiert douăzeci de minute.", "Bunica gătea mereu această supă duminica pentru toată familia.", "Aluatul trebuie să stea o oră la loc cald.", "La piață se găsesc dimineața pește proaspăt, mere și brânză."}},
	{"nl", []string{"Snijd de uien in kleine blokjes en bak ze goudbruin in de boter.", "Voeg de wortels, de knoflook en de tomaten toe en laat de groenten twintig minuten stoven.", "Mijn oma maakte deze soep altijd op zondag voor de hele familie.", "Het deeg moet ongeveer een uur op een warme plek rusten.", "Op de markt is er 's ochtends verse vis, appels en kaas."}},
	{"sv", []string{"Skär löken i små bitar och stek den gyllene i smör.", "Tillsätt morötter, vitlök och tomat och låt grönsakerna koka i tjugo minuter.", "Mormor lagade alltid den här soppan på söndagar för hela familjen.", "Degen ska vila en timme på en varm plats innan den kavlas ut.", "På torget finns det färsk fisk, äpplen och ost på morgonen."}},
	{"pl", []string{"Pokrój cebulę w drobną kostkę i podsmaż ją na maśle na złoty kolor.", "Dodaj marchew, czosnek i pomidory, a potem duś warzywa przez dwadzieścia minut.", "Babcia zawsze gotowała tę zupę w niedzielę, kiedy cała rodzina siadała do stołu.", "Ciasto powinno odpocząć około godziny w ciepłym miejscu.", "Na targu rano można kupić świeżą rybę, jabłka i ser."}},
	{"cs", []string{"Cibuli nakrájejte na malé kostky a osmahněte ji na másle dozlatova.", "Přidejte mrkev, česnek a rajčata a duste zeleninu dvacet minut.", "Babička tuto polévku vařila vždycky v neděli pro celou rodinu.", "Těsto musí asi hodinu odpočívat na teplém místě.", "Na trhu se ráno prodávají čerstvé ryby, jablka a sýr."}},
	{"fi", []string{"Leikkaa sipulit pieniksi kuutioiksi ja paista ne voissa kullanruskeiksi.", "Lisää porkkanat, valkosipuli ja tomaatit ja hauduta vihanneksia kaksikymmentä minuuttia.", "Isoäiti keitti tätä keittoa aina sunnuntaisin koko perheelle.", "Taikinan pitää levätä noin tunti lämpimässä paikassa.", "Torilla myydään aamulla tuoretta kalaa, omenoita ja juustoa."}},
	{"hu", []string{"Vágja a hagymát apró kockákra, és pirítsa meg a vajon.", "Adja hozzá a répát, a fokhagymát és a paradicsomot, majd párolja húsz percig.", "Nagymama vasárnaponként mindig ezt a levest főzte az egész családnak.", "A tésztának körülbelül egy órát kell pihennie meleg helyen.", "A piacon reggel friss halat, almát és sajtot árulnak."}},
	{"tr", []string{"Soğanları küçük küpler halinde doğrayın ve tereyağında kavurun.", "Havuçları, sarımsağı ve domatesi ekleyin, sebzeleri yirmi dakika pişirin.", "Babaannem bu çorbayı her pazar bütün aile için yapardı.", "Hamurun sıcak bir yerde yaklaşık bir saat dinlenmesi gerekir.", "Pazarda sabahları taze balık, elma ve peynir satılır."}},
	{"vi", []string{"Thái hành tây thành miếng nhỏ rồi xào với bơ cho đến khi vàng.", "Cho cà rốt, tỏi và cà chua vào rồi nấu nhỏ lửa trong hai mươi phút.", "Bà tôi luôn nấu món canh này vào chủ nhật cho cả gia đình.", "Bột cần nghỉ khoảng một giờ ở nơi ấm áp.", "Buổi sáng ngoài chợ có cá tươi, táo và phô mai."}},
	{"id", []string{"Potong bawang bombai kecil-kecil lalu tumis dengan mentega sampai kuning keemasan.", "Masukkan wortel, bawang putih, dan tomat, lalu masak sayuran selama dua puluh menit.", "Nenek selalu memasak sup ini pada hari Minggu untuk seluruh keluarga.", "Adonan harus didiamkan sekitar satu jam di tempat yang hangat.", "Di pasar pagi hari ada ikan segar, apel, dan keju."}},
}

// foreignPages makes n pages of each language.
func foreignPages(rng *rand.Rand, n int) (pages []strange) {
	for _, l := range tongues {
		for i := range n {
			var b strings.Builder
			declared := l.code
			if i%3 == 0 {
				declared = "en" // as templates have it
			}
			fmt.Fprintf(&b, "<html lang=%s><title>%s</title><body><nav><a href=/>Home</a> <a href=/blog>Blog</a></nav>", declared, strings.Join(strings.Fields(l.lines[i%len(l.lines)])[:min(3, len(strings.Fields(l.lines[i%len(l.lines)])))], " "))
			for range 1 + i%3 {
				for _, k := range rng.Perm(len(l.lines)) {
					fmt.Fprintf(&b, "<p>%s</p>", l.lines[k])
				}
			}
			fmt.Fprintf(&b, "<footer>Copyright %d</footer></body></html>", 2001+i)
			pages = append(pages, strange{"language", fmt.Sprintf("%s/%d", l.code, i), b.String()})
		}
	}
	return pages
}

// empties are pages that hold next to nothing of what their address promises.
var empties = []strange{
	{"shell", "app", `<html><title>App</title><body><noscript>You need to enable JavaScript to run this app.</noscript><div id=root></div><script src=/main.js></script></body></html>`},
	{"shell", "loading", `<title>Portal</title><body><div class=spinner>Loading…</div><noscript>Please turn on JavaScript in your browser and reload the page.</noscript></body>`},
	{"shell", "browser", `<title>Just a moment</title><body><h1>Checking your browser</h1><p>This takes a few seconds. Please allow cookies and scripts. You will be sent on when it is done.</p></body>`},
	{"shell", "bank", `<title>Savings Bank – loading</title><body><div id=app>Please wait …</div><noscript>This site needs JavaScript.</noscript></body>`},
	{"shell", "scores", `<title>League live scores</title><body><div id=app></div><noscript>Turn on JavaScript to see the match.</noscript></body>`},
	{"shell", "journal", `<title>Journal of Physics</title><body><div id=app></div><p>Loading article</p></body>`},
	{"shell", "docs", `<title>API reference</title><body><div id=app></div><p>Loading the class list</p></body>`},
	{"error", "404", `<title>404 Not Found</title><h1>Not Found</h1><p>The requested URL was not found on this server.</p><hr><address>Server at port 80</address>`},
	{"error", "404 home", `<title>Page not found</title><h1>Oops!</h1><p>We cannot find the page that you are looking for. It may have been moved or taken away. Go back to the home page or use the search.</p>`},
	{"error", "403", `<title>403 Forbidden</title><h1>Forbidden</h1><p>You do not have permission to see this page.</p>`},
	{"error", "500", `<title>Internal Server Error</title><h1>Internal Server Error</h1><p>The server met an error and could not finish your request. Please tell the administrator the time and what you did.</p>`},
	{"error", "database", `<title>Error</title><p>Error establishing a database connection</p>`},
	{"error", "php", `<br><b>Fatal error</b>: Call to undefined function query() in <b>/www/index.php</b> on line <b>12</b>`},
	{"error", "trace", `<title>Error</title><pre>Exception: null pointer at Main.run line 12 at Thread.start line 7</pre>`},
	{"error", "maintenance", `<title>Down for maintenance</title><h1>We will be back soon</h1><p>The site is being worked on. Thank you for waiting.</p>`},
	{"error", "bank", `<title>Bank – page not found</title><h1>404</h1><p>This page of the bank does not exist.</p>`},
	{"error", "sport", `<title>Football club – page not found</title><h1>404</h1><p>This page of the club does not exist. See the team or the matches.</p>`},
	{"parked", "sale", `<title>example-loans.test is for sale</title><h1>This domain is for sale</h1><p>Buy this domain. The owner takes offers.</p>`},
	{"parked", "money", `<title>mortgage-credit.test</title><h1>Related searches</h1><ul><li><a href=/1>Mortgage</a><li><a href=/2>Credit cards</a><li><a href=/3>Bank loans</a><li><a href=/4>Savings account</a></ul><p>This domain may be for sale.</p>`},
	{"parked", "sport", `<title>football-tickets.test</title><h1>Sponsored listings</h1><ul><li><a href=/1>Football tickets</a><li><a href=/2>Hockey sticks</a><li><a href=/3>Baseball league</a></ul><p>The domain has been parked free of charge.</p>`},
	{"parked", "science", `<title>astronomy.test</title><h1>Sponsored listings</h1><ul><li><a href=/1>Telescopes</a><li><a href=/2>Biology degree</a><li><a href=/3>Chemistry set</a></ul><p>This web page is parked free.</p>`},
	{"parked", "code", `<title>learn-programming.test</title><h1>Sponsored listings</h1><ul><li><a href=/1>Programming courses</a><li><a href=/2>Software developer</a><li><a href=/3>Python class</a></ul><p>Buy this domain.</p>`},
	{"parked", "host", `<title>Welcome</title><h1>It works!</h1><p>This is the default page of the web server. Put your pages into the folder and this page will go.</p>`},
	{"parked", "soon", `<title>Coming soon</title><h1>Coming soon</h1><p>Our new site is under construction.</p>`},
	{"login", "account", `<title>Sign in</title><h1>Sign in to your account</h1><form>Email <input> Password <input> <a href=/f>Forgot your password?</a> <button>Sign in</button></form><p>New here? Create an account. Terms Privacy Help</p>`},
	{"login", "bank", `<title>Online banking – sign in</title><form>User name <input> Password <input> <button>Sign in</button></form><p>Forgot your password?</p>`},
	{"login", "club", `<title>Members of the club</title><form>Member number <input> Password <input> <button>Enter</button></form><p>Only members of the team can see this page.</p>`},
	{"login", "journal", `<title>Journal of Biology – access</title><p>You do not have access to this article. Sign in or buy access for 24 hours.</p><form>Email <input> Password <input></form>`},
	{"login", "forum", `<title>Programmers' forum – log in</title><p>You must be logged in to see this topic.</p><form>User name <input> Password <input> Remember me <input type=checkbox></form>`},
	{"login", "wall", `<title>Continue reading</title><p>You have read your last free article. Subscribe to go on reading. Already a subscriber? Log in.</p>`},
	{"login", "age", `<title>Age check</title><p>Are you 18 or older? Yes No</p>`},
	{"login", "cookies", `<title>Before you continue</title><p>We use cookies. Accept all. Reject all. More options. Privacy. Terms.</p>`},
	{"nothing", "empty", ``},
	{"nothing", "blank", `<html><head><title></title></head><body>&nbsp;</body></html>`},
	{"nothing", "title", `<title>Home</title>`},
	{"nothing", "images", `<title>img</title><body><img src=1.jpg><img src=2.jpg></body>`},
	{"nothing", "index", `<title>Index of /</title><h1>Index of /</h1><pre><a href=a>a</a> 2001-01-01 12:00 1K <a href=b>b</a> 2002-02-02 13:00 2K</pre>`},
}

// furtherEmpties were written before anybody had seen what becomes of them: without
// classify's doubt 9 of 128 fell.
var furtherEmpties = []strange{
	{"shell", "dashboard", `<title>Savings dashboard</title><body><div id=app></div><noscript>Your browser has no JavaScript, so accounts and payments cannot be shown. Turn it on and load the page again.</noscript></body>`},
	{"shell", "fixtures", `<title>Fixtures and results</title><body><div id=root></div><p>Loading the games of this season. If nothing happens, your browser may be too old for this site.</p></body>`},
	{"shell", "playground", `<title>Code playground</title><body><div id=editor></div><noscript>The editor runs in your browser and needs JavaScript. Enable it to compile and run your program.</noscript></body>`},
	{"shell", "viewer", `<title>Article viewer</title><body><div id=viewer></div><p>Preparing the document. Large figures may take some time to appear on your screen.</p></body>`},
	{"shell", "old browser", `<title>Update your browser</title><h1>Please update your browser</h1><p>This site does not work with the version that you use. Get one of these: Firefox, Chrome, Safari.</p>`},
	{"error", "gone", `<title>410 Gone</title><h1>This lecture is no longer here</h1><p>The department has taken the course and its pages away. There is no forwarding address.</p>`},
	{"error", "article", `<title>Article not found</title><h1>We could not find that article</h1><p>The research paper that you asked for may have been withdrawn. Try the list of journals.</p>`},
	{"error", "match", `<title>Match report not available</title><p>The report of this game is not available yet. Come back after the final whistle.</p>`},
	{"error", "loan", `<title>Session expired</title><h1>Your session has expired</h1><p>For your security we have ended your loan application. Please start again with your account number.</p>`},
	{"error", "stack", `<title>500</title><pre>Traceback most recent call last: File app.py line 40 in handler return render(template) KeyError: user</pre>`},
	{"error", "sql", `<p>Warning: mysql_connect(): Access denied for user www at localhost (using password: YES) in /home/www/db.php on line 7</p>`},
	{"error", "asp", `<title>Runtime Error</title><h2>Server Error in application</h2><p>An application error occurred on the server. The current settings prevent the details from being viewed remotely.</p>`},
	{"error", "limit", `<title>Bandwidth limit exceeded</title><h1>509</h1><p>The server is not able to serve your request because the owner of the site has used all of its bandwidth. Please try again later.</p>`},
	{"error", "gateway", `<title>502 Bad Gateway</title><h1>Bad Gateway</h1><p>The proxy server got an answer that it did not understand from the server behind it.</p>`},
	{"parked", "loans", `<title>cheap-loans.test</title><p>This domain has expired. Is it yours? Renew it now.</p><ul><li><a href=/a>Personal loans</a><li><a href=/b>Interest rates</a><li><a href=/c>Debt help</a><li><a href=/d>Insurance quotes</a><li><a href=/e>Online bank accounts</a></ul>`},
	{"parked", "club", `<title>hockey-club.test</title><p>The domain hockey-club.test is parked here by its owner.</p><ul><li><a href=/a>Ice hockey</a><li><a href=/b>Team shirts</a><li><a href=/c>Season tickets</a><li><a href=/d>Players</a></ul>`},
	{"parked", "space", `<title>space-mission.test</title><p>You may buy the domain space-mission.test from the person who has it now.</p><ul><li><a href=/a>Planets</a><li><a href=/b>Space camp</a><li><a href=/c>Star maps</a></ul>`},
	{"parked", "java", `<title>java-course.test</title><p>Looking for java-course.test? It is for sale by auction.</p><ul><li><a href=/a>Java download</a><li><a href=/b>Learn to code</a><li><a href=/c>Free compiler</a></ul>`},
	{"parked", "provider", `<title>Here will be a new web site</title><p>A customer of ours has just registered this domain. If you are that customer, log in to your control panel and put files into the folder for the web.</p>`},
	{"login", "library", `<title>University library – log in</title><h1>Log in</h1><p>Use your university account to read this paper. Visitors may ask at the desk of the library for a password of one day.</p><form>User <input> Password <input></form>`},
	{"login", "repository", `<title>Private repository</title><p>This repository is private. Sign in with an account that has been given access, or ask the owner of the project.</p><form>User <input> Password <input></form>`},
	{"login", "fans", `<title>Supporters' area</title><p>You have to be a registered fan to watch this video of the game. Sign up, it is free, or sign in with your email.</p>`},
	{"login", "broker", `<title>Investor log in</title><p>Enter the number of your customer card and the code from your phone. Never tell the code to anybody, not even to us.</p>`},
	{"login", "paper", `<title>Subscribe to read</title><h1>This story is for subscribers</h1><p>Get the first month for one pound. You can end it at any time. Already have an account? Sign in.</p>`},
	{"login", "captcha", `<title>Are you a robot?</title><p>We have seen unusual traffic from your network. Tick the box to show that a person has sent these requests and not a program.</p>`},
	{"login", "consent", `<title>Your privacy</title><p>We and our partners store information on your device and read it, to measure how the site is used and to show you advertisements. Accept or manage your choices.</p>`},
	{"nothing", "redirect", `<title>Moved</title><p>This page has moved. If your browser does not take you there, follow <a href=/new>this link</a>.</p>`},
	{"nothing", "frames", `<title>Frames</title><noframes>This site uses frames, but your browser does not show them. Get a newer one.</noframes>`},
	{"nothing", "print", `<title>Print</title><p>Print this page. Close the window. Back to the top. Page 1 of 1.</p>`},
	{"nothing", "search", `<title>Search results</title><p>Your search gave no results. Check how the words are spelled or use other words.</p>`},
	{"nothing", "cart", `<title>Your basket</title><p>There is nothing in your basket. Go on shopping. Delivery is free from 20 pounds on.</p>`},
	{"nothing", "thanks", `<title>Thank you</title><p>Thank you for your message. We have received it and will answer within two working days.</p>`},
}

// noise are pages of no language.
func noisePages(rng *rand.Rand, n int) (pages []strange) {
	for i := range n {
		var b strings.Builder
		b.WriteString("<title>data</title><pre>")
		for range 200 {
			switch i % 4 {
			case 0: // as base64 has it
				for range 1 + rng.IntN(12) {
					b.WriteByte("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"[rng.IntN(62)])
				}
			case 1:
				fmt.Fprintf(&b, "%d", rng.IntN(100000))
			case 2:
				fmt.Fprintf(&b, "%x", rng.Uint32())
			case 3: // syllables
				for range 1 + rng.IntN(4) {
					b.WriteByte("bdfgklmnprstvz"[rng.IntN(14)])
					b.WriteByte("aeiou"[rng.IntN(5)])
				}
			}
			b.WriteByte(' ')
		}
		pages = append(pages, strange{"noise", fmt.Sprint(i), b.String()})
	}
	return pages
}

// knownFalls are pages whose words are the topic's.
var knownFalls = map[string]bool{"banking: loans": true, "science: space": true}

// TestStrange: no built-in topic takes a page for its own that says nothing, or says it in
// a language that it was not trained on, and each says why.
func TestStrange(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	kinds := map[string][]strange{"in other languages": foreignPages(rng, 6), "with next to no words": empties, "with next to no words, further ones": furtherEmpties, "of no language": noisePages(rng, 20)}
	for kind, pages := range kinds {
		tried := testkit.Tries(t, "pages that no topic knows, "+kind)
		for _, name := range models.BuiltinTopics() {
			topic := testkit.Call(models.BuiltinTopic(name)).Must(t)
			l := testkit.Call(NewLabeller(topic)).Must(t)
			for _, s := range pages {
				p := testkit.Call(page.Parse([]byte(s.html), page.ParseOptions{URL: "http://strange.test/"})).Must(t)
				var score crawler.Score
				probability := l.label(p, &score)
				held := !score.Relevant && score.Label != name
				if s.kind == "language" {
					held = held && (strings.HasPrefix(score.Rule, "language ") || strings.HasPrefix(score.Rule, "words unlike") || strings.HasPrefix(score.Rule, "too few") || strings.HasPrefix(score.Rule, "no "))
				}
				if knownFalls[name+": "+s.name] && !held {
					tried.Known("%s: %s %s is taken for the topic, by %s", name, s.kind, s.name, score.Rule)
					continue
				}
				tried.Try(held, "%s: %s %s: %s, %.3f of %.3f: %s", name, s.kind, s.name, score.Label, probability, topic.Model.Threshold(name), score.Rule)
			}
		}
	}
}
