//! scratch
fn main() {
    for name in gough::robots::names() {
        match gough::robots::load(name).unwrap() {
            Ok(r) => {
                let t = r.model().topology();
                println!("== {name}: mode {} {:?}", r.mode().name(t), r.mobility());
                println!("  active {:?} passive {:?} len {}", t.active_names(), t.passive_names(), r.model().length());
                for b in &t.plan.inverse { match &b.method { gough::model::Method::Chain{recipes,path,..} => println!("  leg {} {:?} -> {:?} {:?} roots {:?} exp {:?} pf {:?}", t.legs[b.leg].name, t.node_name(path.start), t.node_name(path.end()), recipes, b.roots, b.exports, b.pose_first), m => println!("  leg {} {:?}", t.legs[b.leg].name, m) } }
                println!("  forward plan {:?}", t.plan.forward.as_ref().map(|f| f.len()));
                println!("  q {:?} gap {:?}", r.home().joints(r.model(), &t.active), r.home().gap(r.model()));
                for x in r.remarks() { println!("  remark {}", x.what); }
            }
            Err(e) => println!("== {name}: {e}"),
        }
    }
}
