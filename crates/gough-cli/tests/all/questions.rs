//! Questions that contradict themselves, say too little, or need a remark in the answer.

#[allow(dead_code)]
use crate::common::{repository, run};

const THREE_PRS: &str = "crates/gough/tests/robots/3-prs.toml";

#[test]
fn poses_that_contradict_themselves_or_say_too_little_are_refused() {
    let prs = repository(THREE_PRS);
    for (robot, pose, says) in [
        // One thing said twice.
        ("3-rpr", "x=0,x=1,y=0,phi=0.1", "x is given twice"),
        ("3-rpr", "x=0,y=0,phi=0.1,theta=0.2", "phi and theta are the same coordinate"),
        ("3-rpr", "x=0,y=0,phi=0.1,yaw=0.3", "phi and yaw are the same coordinate"),
        ("gough-stewart", "x=0.2,y=0.4,z=1,roll=0.1,rx=0.2", "roll and rx are the same coordinate"),
        ("gough-stewart", "x=0.2,y=0.4,z=1,roll=0.1,qw=1,qx=0,qy=0,qz=0", "roll and qw both give the orientation"),
        // A part of it.
        ("gough-stewart", "x=0.2,y=0.4,z=1,qw=1", "the quaternion is incomplete: qx, qy, qz missing"),
        (&prs, "z=0.5,yaw=0", "yaw follows from the coordinates"),
        ("five-bar", "x=0.05,z=1", "y missing; the coordinates of the platform are x, y, not z"),
        // What the platform does not have.
        (&prs, "z=0.5,rx=0.1,ry=0.2,x=0.1", "x follows from the coordinates of the platform, z, roll, pitch"),
        (&prs, "z=0.5,qw=1,qx=0,qy=0,qz=0", "a quaternion says too much; give z, roll, pitch"),
        ("five-bar", "x=0.05,y=0.25,z=1", "cannot move in z"),
        ("five-bar", "roll=1,x=0.05,y=0.25", "roll: the platform is a point and has no orientation"),
        ("five-bar", "x=0.05,y=0.25,qw=1,qx=0,qy=0,qz=0", "qw: the platform is a point"),
        // What is no number.
        ("five-bar", "x=nan,y=0.25", "x is `nan`, not a finite number"),
        ("five-bar", "x=1e400,y=0.25", "x is `1e400`, not a finite number"),
        ("five-bar", "x=l1,y=0.25", "x is `l1`, not a number"),
    ] {
        let (out, err, status) = run(&["kinematics", robot, "--pose", pose]);
        assert_eq!((out.as_str(), status), ("", 2), "{robot} {pose}: {err}");
        assert!(err.contains(says), "{robot} {pose}: {err}");
    }
    let (_, err, status) = run(&["kinematics", "five-bar", "--joints", "q11=1,11=2,q21=1"]);
    assert!(status == 2 && err.contains("q11 and 11 are the same joint"), "{err}");
}

#[test]
fn a_spatial_platform_keeps_the_orientation_of_home_when_none_is_given() {
    let (without, err, status) = run(&["kinematics", "gough-stewart", "--pose", "x=0.3,y=0.45,z=1"]);
    assert_eq!(status, 0, "{err}");
    let (with, _, _) = run(&["kinematics", "gough-stewart", "--pose", "x=0.3,y=0.45,z=1,roll=0,pitch=0,yaw=0"]);
    assert_eq!(without, with + "roll, pitch, yaw as at home: --pose leaves it out\n");
}
